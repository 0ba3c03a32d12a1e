// Package till is a register that speaks ECR17, written from ecr/ecr17/README.md. It behaves as the
// public libraries do: it sends a request four times at most, waits for its result, and takes
// whatever lies in its socket for the answer.
//
// It guarantees that it shares no code with the terminal, so that tests and measurements compare two
// readings of the same page. It must not import ecr, and not ecr/ecr17.
package till
