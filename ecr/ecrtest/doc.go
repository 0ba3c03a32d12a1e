// Package ecrtest is the conformance suite of register protocols: Run plays a protocol's own
// registers against a session with a small desk, on a serial cable and on TCP, and compares what
// the register and the terminal believe.
//
// Its cases are a sale, a decline, a refusal, an abort, a lost answer, an answer that is old, a
// register that asks while its sale runs, a cable cut at every byte of a sale, a question by id after
// such a cut, another sale instead of the lost one, a restart of the terminal, a slow desk, a disk
// that fails, the same request twice, another body under one id, two registers on one line and on
// two, the end of day, and hostile bytes. A
// protocol says in its Fixture what it can do. The suite does not guess: a protocol that cannot
// match a repeated request is tested for what it does instead.
//
// It guarantees that a protocol that passes
//   - begins at most one sale for one request that it can recognise, and none for bytes that are no
//     request;
//   - records "told" only for an outcome that the register has, and tells that outcome again in the
//     protocol's own way;
//   - never tells one register's outcome to another.
//
// Time is virtual, so that the waits of a protocol cost nothing; one day is played over real TCP
// connections. A new protocol adds a test of one Fixture in its folder; toy is the example. It
// imports ecr, ecr/session, ecr/ecrtest/desk, ecr/ecrtest/lines and testify.
package ecrtest
