// Package device is the box itself: its key file, its boot, its clock.
//
// It owns the device key, under which every data key of the store is wrapped, and which never lies in a database or a
// backup. It guarantees that the key file is private, complete and durable before anything is wrapped with it, and
// that a key that does not fit is named as such instead of being mistaken for damage.
//
// It must not import agent, ecr, schemes or store: a *Keys fits the store's Wrapper by its methods alone.
package device
