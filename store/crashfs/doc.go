// Package crashfs proves what a store promises about power cuts and failing disks. It owns a SQLite VFS that passes
// everything on to the real one and writes down every change and every sync, and it owns the disk model that turns
// such a record into the states a power cut may leave behind.
//
// The model: a file consists of 512-byte sectors. What was written before a completed sync of its file is on the
// medium. Of what was written later, any sector may be there in any of its versions or not at all, one version may end
// in the middle of a sector, the file may have any of its sizes, and a deleted file may be back. A sector that is
// rewritten with bytes it had already keeps those bytes (powersafe overwrite, as SQLite assumes of its VFS).
//
// What a failed sync was to write may have arrived or not, sector by sector, and no later sync makes sure of it: the
// kernel takes the pages for clean. Every open descriptor of the file is told of the failure once. Whoever tries the
// sync again and believes it loses data here, as on a real disk.
//
// It is for tests, also those of the rooms above: record a workload through Recorder.VFS, call Ack when something was
// acknowledged, Enumerate the states, open each with the real code and compare. Faults can be armed to make the n-th
// write or sync fail. It imports no testing and must not be imported outside of tests.
//
// 2026-11-21: a store writes through SQLite alone, so files beside the database (lock, reserve) are not modelled; what
// they hold is never needed to read the database.
package crashfs
