// Package check has the rule of each field that several services share: text, address, e-mail,
// card, country, language, currency, day, webhook and header.
//
// It guarantees that a rule gives the same answer for the same text in every service, and that no
// answer repeats the text. A request with rules (Checked) adds its faults to a List; Request makes
// one error of the List.
//
// It imports schemes/wire, schemes/money and the standard library. It must not import a service.
package check
