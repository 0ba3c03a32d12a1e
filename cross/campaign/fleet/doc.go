// Package fleet is the campaign on many terminals, several backends and a database of three servers,
// all on loopback. The terminals are made of the product's rooms, each with a journal of its own;
// the backends are the built binary; the servers are Debian's, and a commit waits for one standby.
//
// Tills sell and write, take sales back and lose what they hear. Primaries are killed and standbys
// promoted, standbys stopped, connections ended, backends killed and ended, disks filled, terminals
// killed; some answers to writes are cut off. README.md has the rounds.
//
// A roll-out of settings goes to terminals with the product's enrolment, in a time of its own, through
// backends of this process: rollout_test.go.
//
// It guarantees, when the last fault is over:
//   - Each terminal has nothing open within 60 s.
//   - A sale that was told as approved is in the database once, with its amount.
//   - A sale that was told otherwise has no money in the end.
//   - A write that was answered, or stored, has one effect, or a refusal and none.
//   - No one else's sale or write is there. The postings sum to zero.
//
// The judge reads what the tills wrote down when they were told, and the tables by SQL.
//
// It must not be imported.
package fleet
