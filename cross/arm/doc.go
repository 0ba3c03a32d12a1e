// Package arm runs the program that a shop's terminal gets, built for armv7, under an emulator. It
// holds only tests.
//
// It guarantees that every verb and every route of the specification is in that program. The verbs
// that a technician needs on the box do their work there: reset, config rotate-key, register.
// The framebuffer that it writes has the dots of the PNG, and those of the PNG of this machine.
//
// It builds the program as cross.sh does and drives it by its command line and its port. The routes
// are the list of openapitest. It must not import any other room but cross/need and cross/program.
package arm
