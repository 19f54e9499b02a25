#!/usr/bin/perl
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What ctmend asks Proxmox VE's own storage library. Only ctmend runs it, as root and without a
# shell; it is of no use to a person.
#
#   pve-storage.pl look VOLUME     where the volume is, without touching it
#   pve-storage.pl attach VOLUME   make it accessible, as for a container's start
#   pve-storage.pl detach VOLUME   take that back, as after a container's stop
#
# The answer on standard output, all of it or nothing (lib/storage/pveanswer.h reads it):
#
#   ctmend-pve 1
#   path PATH      "" when the library has no path for it
#   format FORMAT
#   base 0|1
#   active 0|1     whether the volume was accessible before
#   end
#
# and for detach the first and the last line. Whatever the library prints goes to standard error,
# and so does the reason of a failure, last. Exit status: 0; 1 the library refused; 2 wrong words;
# 3 there is no such library here.
use strict;
use warnings;

# The answer keeps the descriptor; programs that the library runs write to the other one.
open(my $answer, '>&', \*STDOUT) or die "standard output: $!\n";
open(STDOUT, '>&', \*STDERR) or die "standard output: $!\n";
$| = 1;    # in its place, so that the reason stays the last line

my ($verb, $volid) = @ARGV;
if (@ARGV != 2 || $verb !~ /^(?:look|attach|detach)\z/ || $volid !~ /^[A-Za-z][^\s:]*:\S+\z/) {
    print STDERR "usage: pve-storage.pl look|attach|detach VOLUME\n";
    exit 2;
}

# As pct(1) sets itself up; plugins ask whether they run in a worker, and for the cluster's files.
if (!eval { require PVE::Storage; require PVE::RPCEnvironment; 1 }) {
    print STDERR $@;
    exit 3;
}

if (!eval { main(); 1 }) {
    my $reason = $@;
    $reason =~ s/\s+\z//;
    print STDERR "\n$reason\n";
    exit 1;
}
exit 0;

sub main
{
    PVE::RPCEnvironment->setup_default_cli_env();
    my $cfg = PVE::Storage::config();

    if ($verb eq 'detach') {
        PVE::Storage::unmap_volume($cfg, $volid);
        PVE::Storage::deactivate_volumes($cfg, [$volid]);
        answer();
        return;
    }

    my ($vtype, undef, undef, undef, undef, $base, $format) =
        PVE::Storage::parse_volname($cfg, $volid);
    die "it is no volume of a container but of the kind '$vtype'\n"
        if $vtype ne 'images' && $vtype ne 'rootdir';

    my $path = PVE::Storage::path($cfg, $volid);
    my $was = identity($path);
    my $active = defined($was);
    if ($verb eq 'attach') {
        my $devices = block_devices();
        PVE::Storage::activate_volumes($cfg, [$volid]);
        $path = PVE::Storage::map_volume($cfg, $volid)
            // PVE::Storage::path($cfg, $volid);
        my $is = identity($path) // die "it has been activated, but there is no '$path'\n";

        # The same thing at the same place, or a device that was there under another name.
        $active = (defined($was) && $was eq $is) || exists($devices->{$is});
    }
    answer(
        [path => defined($path) && $path =~ m{^/} ? $path : ''],
        [format => $format // ''],
        [base => $base ? 1 : 0],
        [active => $active ? 1 : 0],
    );
}

# What is at a path, links followed: for a block device what device() calls it, else device and
# inode. Not mounted, a dataset leaves an empty folder at its place, so a path alone says nothing.
sub identity
{
    my ($path) = @_;

    return undef if !defined($path) || $path !~ m{^/};
    my ($dev, $ino, undef, undef, undef, undef, $rdev) = stat($path) or return undef;
    return -b _ ? device($rdev) : "$dev:$ino";
}

# A block device by its numbers, which are given away again, and by the kernel's counter of devices
# (since Linux 5.15). The numbers are Linux's 32 bits, see makedev(3).
sub device
{
    my ($dev) = @_;

    return named_device((($dev >> 8) & 0xfff) . ':' . (($dev & 0xff) | (($dev >> 12) & 0xfff00)));
}

sub named_device
{
    my ($numbers) = @_;

    return "b $numbers " . (first_line("/sys/dev/block/$numbers/diskseq") // '');
}

sub first_line
{
    my ($path) = @_;

    open(my $file, '<', $path) or return undef;
    my $line = <$file>;
    close($file);
    chomp($line) if defined($line);
    return $line;
}

# All block devices of this host that have something in them (a free loop device has not), by what
# device() calls them.
sub block_devices
{
    my %devices;

    opendir(my $dir, '/sys/dev/block') or die "/sys/dev/block: $!\n";
    for my $name (grep { /^\d/ } readdir($dir)) {
        my $size = first_line("/sys/dev/block/$name/size");
        $devices{named_device($name)} = 1 if $size;
    }
    closedir($dir);
    return \%devices;
}

sub answer
{
    my $text = join('', "ctmend-pve 1\n", (map { "$_->[0] $_->[1]\n" } @_), "end\n");

    print {$answer} $text or die "standard output: $!\n";
    close($answer) or die "standard output: $!\n";
}
