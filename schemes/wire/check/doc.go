// Package check has the rule of each field that several services share: text, address, e-mail, card, country, language,
// currency, day, webhook and header.
//
// It guarantees that a rule gives one answer for one text, whatever service asks, and that no answer repeats the text. A
// request that knows its rules (Checked) adds what is wrong with it to a List; Request makes one error of that.
//
// It imports schemes/wire, schemes/money and the standard library. It must not import a service.
package check
