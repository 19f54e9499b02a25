# SPDX-License-Identifier: GPL-3.0-or-later
#
# Stands in for Proxmox VE's storage library, with the calls that share/pve-storage.pl makes. The
# tests alone have it in Perl's path. What it knows is in the folder of the variable STANDIN:
#
#   volumes     a volume a line, columns separated by blanks:
#
#                  VOLUME HOW PATH THING FORMAT BASE
#
#               HOW is what activation does: "device" attaches the image THING to a loop device that
#               PATH is made a link to, "map" does so when the volume is mapped, and path() knows
#               nothing of it; "mount" mounts the directory THING at PATH, or at the part of it
#               before a comma, for good; "lost" does nothing at all.
#   fail-CALL   the call dies with the text of this file
#   log         its calls, one a line
#
# What Proxmox VE prints on the way is on standard output here, too.
package PVE::Storage;

use strict;
use warnings;

use File::Basename qw(dirname);
use File::Path qw(make_path);

my $place = $ENV{STANDIN} // die "STANDIN is not set\n";

sub begin
{
    my ($call, $volid) = @_;

    die "the environment is not set up\n" if !$PVE::RPCEnvironment::is_set_up;
    open(my $log, '>>', "$place/log") or die "log: $!\n";
    print {$log} "$call $volid\n";
    close($log);
    print STDOUT "ctmend-pve 1\npath /etc\nformat raw\nbase 0\nactive 0\nend\n";
    if (open(my $fail, '<', "$place/fail-$call")) {
        local $/;
        die scalar(<$fail>);
    }
    return;
}

sub config
{
    my %volumes;

    open(my $file, '<', "$place/volumes") or die "volumes: $!\n";
    while (my $line = <$file>) {
        my ($volid, @columns) = split(' ', $line);
        my %volume;
        @volume{qw(how path thing format base)} = @columns;
        ($volume{at}, my $rest) = split(/,/, $volume{path});
        $volume{path} = $volume{at} . ($rest // '');
        $volumes{$volid} = \%volume;
    }
    close($file);
    return \%volumes;
}

sub volume
{
    my ($cfg, $volid) = @_;

    return $cfg->{$volid} // die "no such logical volume $volid\n";
}

sub parse_volname
{
    my ($cfg, $volid) = @_;
    my $volume = volume($cfg, $volid);
    my (undef, $name) = split(/:/, $volid, 2);

    return ('images', $name, 115, undef, undef, $volume->{base}, $volume->{format});
}

sub path
{
    my ($cfg, $volid) = @_;
    my $volume = volume($cfg, $volid);
    my $path = $volume->{how} eq 'map' ? "rbd:$volid" : $volume->{path};

    return wantarray ? ($path, 115, 'images') : $path;
}

sub make_device
{
    my ($volume) = @_;

    return if -l $volume->{path};
    my $device = qx(losetup --find --show $volume->{thing});
    die "losetup $volume->{thing}\n" if $? != 0;
    chomp($device);
    make_path(dirname($volume->{path}));
    symlink($device, $volume->{path}) or die "link $volume->{path}: $!\n";
    return;
}

sub remove_device
{
    my ($volume) = @_;
    my $device = readlink($volume->{path}) // return;

    system('losetup', '-d', $device) == 0 or die "losetup -d $device\n";
    unlink($volume->{path}) or die "unlink $volume->{path}: $!\n";
    return;
}

sub activate_volumes
{
    my ($cfg, $volids) = @_;

    for my $volid (@$volids) {
        my $volume = volume($cfg, $volid);

        begin('activate', $volid);
        make_device($volume) if $volume->{how} eq 'device';
        if ($volume->{how} eq 'mount') {
            system('mountpoint', '-q', $volume->{at}) == 0
                or system('mount', '--bind', $volume->{thing}, $volume->{at}) == 0
                or die "mount $volume->{at}\n";
        }
    }
    return;
}

sub map_volume
{
    my ($cfg, $volid) = @_;
    my $volume = volume($cfg, $volid);

    begin('map', $volid);
    return undef if $volume->{how} ne 'map';
    make_device($volume);
    return $volume->{path};
}

sub unmap_volume
{
    my ($cfg, $volid) = @_;
    my $volume = volume($cfg, $volid);

    begin('unmap', $volid);
    remove_device($volume) if $volume->{how} eq 'map';
    return;
}

sub deactivate_volumes
{
    my ($cfg, $volids) = @_;

    for my $volid (@$volids) {
        my $volume = volume($cfg, $volid);

        begin('deactivate', $volid);
        remove_device($volume) if $volume->{how} eq 'device';
    }
    return;
}

1;
