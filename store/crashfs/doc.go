// Package crashfs proves what an engine promises about power cuts and failing disks. It owns a
// SQLite VFS that forwards every call to the real one and records each change and each sync. It
// also owns the disk model that turns such a record into the states that a power cut may leave.
//
// The model:
//   - A file consists of 512-byte sectors. Bytes written before a completed sync of their file are
//     on the medium.
//   - A sector that was written later may be there in any of its versions, or not at all. One
//     version may end within a sector. The file may have any of its sizes, and a deleted file may
//     be back.
//   - A sector that is rewritten with the same bytes keeps them (powersafe overwrite, as SQLite
//     assumes of its VFS).
//   - The sectors of a failed sync may have arrived, each by itself. No later sync ensures it,
//     because the kernel takes the pages for clean. Each open descriptor of the file gets the error
//     once. A program that repeats the sync and believes it loses data here, as on a real disk.
//
// A test records a workload through Recorder.VFS, calls Ack at each acknowledgement, enumerates
// the states, opens each with the real code and compares. Armed faults let the n-th write or sync
// fail.
//
// It is for tests only, also those of the rooms above. It must not import testing.
package crashfs
