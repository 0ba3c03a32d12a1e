// Package certs makes certificates for tests: authorities, and what they sign.
//
// It guarantees that a certificate which no change spoils is good: for 127.0.0.1, for servers and
// clients, within its dates, with a key of its own.
//
// Only test files import this package. It must not import any other package of the module.
package certs
