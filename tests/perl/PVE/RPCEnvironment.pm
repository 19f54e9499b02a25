# SPDX-License-Identifier: GPL-3.0-or-later
#
# Stands in for Proxmox VE's module, for tests/perl/PVE/Storage.pm.
package PVE::RPCEnvironment;

use strict;
use warnings;

our $is_set_up;

sub setup_default_cli_env
{
    $is_set_up = 1;
    return;
}

1;
