/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Storage types that ctmend knows by name and does not work on, each with its reason.
 */
#include "storage/types.h"

#define NO_ROOTFS "Proxmox VE keeps no container volumes there"
#define LOOK      "look at the rootfs line of the container's configuration"

const struct ctm_storage_type ctm_storage_cephfs = {
	.name = "cephfs",
	.refusal = NO_ROOTFS,
	.hint = LOOK,
};
const struct ctm_storage_type ctm_storage_esxi = {
	.name = "esxi",
	.refusal = NO_ROOTFS,
	.hint = LOOK,
};
const struct ctm_storage_type ctm_storage_iscsi = {
	.name = "iscsi",
	.refusal = NO_ROOTFS,
	.hint = LOOK,
};
const struct ctm_storage_type ctm_storage_iscsidirect = {
	.name = "iscsidirect",
	.refusal = NO_ROOTFS,
	.hint = LOOK,
};
const struct ctm_storage_type ctm_storage_pbs = {
	.name = "pbs",
	.refusal = NO_ROOTFS,
	.hint = LOOK,
};
const struct ctm_storage_type ctm_storage_zfs = {
	.name = "zfs",
	.refusal = NO_ROOTFS " (zfs over iSCSI)",
	.hint = LOOK,
};
