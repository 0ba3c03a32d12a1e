// Package tills has the registers of ecr/till as the campaigns use them: one makes a connection for
// each question, and goes on in its protocol's way where an answer was lost.
//
// table.go is the table of the protocols, with what a campaign has to know of one; till.go is the till,
// scenario.go how it goes on. A protocol is a row of the table, and one of ecr/till.
//
// It guarantees that nothing that was heard in part is taken for an answer. It judges nothing, and
// knows neither the terminal's journal nor the backend. Only the campaigns below cross import it.
package tills
