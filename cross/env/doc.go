// Package env reads what the environment asks of a campaign: how much of it, and its seed.
//
// It guarantees that a campaign which fails can be repeated: each failure names the seed. Only test
// files import this package. It must not import any other package of the module.
package env
