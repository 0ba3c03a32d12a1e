// Package protocol makes ZVT an ecr.Protocol: it joins the dialogue of ecr/zvt with the frames of
// ecr/zvt/frame.
//
// It guarantees that a dialogue speaks for one line and one kind of connection, that a TCP
// connection takes no message longer than 16 KiB, and that a password is read from a command
// without carrying the command out.
package protocol
