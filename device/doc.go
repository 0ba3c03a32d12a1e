// Package device is the box itself: its key file, its boot, its clock.
//
// It owns the device key, under which every data key of the store is wrapped, and which never lies in a database or a
// backup. It guarantees that the key file is private, complete and durable before anything is wrapped with it, and
// that a key that does not fit is named as such instead of being mistaken for damage.
//
// It must not import agent, ecr, schemes or store: a *Keys fits the store's Wrapper by its methods alone.
//
// 2026-11-21: a key file that is missing is made anew. A store whose own key was wrapped under the lost one then
// answers ErrWrongKey at its opening; nothing is made up in its place.
//
// 2026-11-21: where the kernel tells no boot id, every start of the program counts as a new boot. A boot too many
// costs a sale that has to be repeated; a boot overlooked would trust timers and dialogues that are dead.
//
// 2026-11-22: while the device key is changed the new one lies beside the old one as device.key.next, and both open; what is new is wrapped
// under the new one. Taking the old one's place is the last step, when nothing is wrapped under the old one: a kill before it leaves
// both keys, and the change is done again.
package device
