// Package device is the terminal's hardware: its key file, its boot, its clock.
//
// It owns the device key, which wraps every data key of the store and never lies in a database or
// a backup. It guarantees:
//   - The key file is private, complete and durable before anything is wrapped with it.
//   - A key that cannot unwrap is reported as a wrong key, not as damage.
//
// It must not import agent, ecr, schemes or store: a *Keys has the methods of the store's Wrapper.
package device
