// Package till is a register that speaks nexo Retailer as JSON, in clear or encrypted. It was written
// from the description of the protocol, for the tools and the campaigns.
//
// It guarantees
//   - One request at a time on one connection; each is one write.
//   - An answer is returned whole or not at all, and where the register has a key, only if it is
//     encrypted under that key.
//   - No key is printed.
//
// It shares no code with the terminal; how a request goes over its connection is package web's.
package till
