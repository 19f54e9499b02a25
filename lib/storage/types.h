/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rows of the table of storage types, for index.c and the files that define them. */
#ifndef CTM_STORAGE_TYPES_H
#define CTM_STORAGE_TYPES_H

#include "storage/storage.h"

extern const struct ctm_storage_type ctm_storage_btrfs;
extern const struct ctm_storage_type ctm_storage_cephfs;
extern const struct ctm_storage_type ctm_storage_cifs;
extern const struct ctm_storage_type ctm_storage_dir;
extern const struct ctm_storage_type ctm_storage_esxi;
extern const struct ctm_storage_type ctm_storage_iscsi;
extern const struct ctm_storage_type ctm_storage_iscsidirect;
extern const struct ctm_storage_type ctm_storage_lvm;
extern const struct ctm_storage_type ctm_storage_lvmthin;
extern const struct ctm_storage_type ctm_storage_nfs;
extern const struct ctm_storage_type ctm_storage_pbs;
extern const struct ctm_storage_type ctm_storage_rbd;
extern const struct ctm_storage_type ctm_storage_zfs;
extern const struct ctm_storage_type ctm_storage_zfspool;

#endif
