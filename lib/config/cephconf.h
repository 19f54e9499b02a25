/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * /etc/pve/ceph.conf: the id of the cluster that this Proxmox VE cluster runs itself.
 */
#ifndef CTM_CONFIG_CEPHCONF_H
#define CTM_CONFIG_CEPHCONF_H

#include "base/bytes.h"

/** "01234567-89ab-cdef-0123-456789abcdef" and a NUL. */
#define CTM_CEPH_FSID 37

/**
 * The value of fsid in the section [global], as PVE's storage plugin takes it (PVE::CephConfig,
 * RBDPlugin.pm get_rbd_dev_path). Written in a way that needs more of the file's grammar (quotes,
 * comments behind a value, continued lines) it counts as not there. -ENOENT: there is none;
 * -EBADMSG: it is no UUID.
 */
int ctm_cephconf_fsid(struct ctm_bytes text, char ret[static CTM_CEPH_FSID]);

#endif
