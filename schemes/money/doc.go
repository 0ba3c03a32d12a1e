// Package money holds amounts and currencies: integer minor units, the ISO 4217 table, and the
// hundredths of S1 2.4, converted here and nowhere else. Never a float.
//
// Guarantees: every conversion and sum is exact or refused; nothing is rounded, nothing wraps around.
//
// It imports the standard library only.
//
// Decisions:
//
// 2026-11-21: the table is the list of active codes in November 2026. Withdrawn codes (HRK, BGN, ANG,
// SLL, CUC, ZWL) are unknown. Funds, metals, units of account, XTS and XXX are known but Special: they cannot be paid
// with, and ToHundredths refuses them.
//
// 2026-11-21: exponents are those of ISO 4217 (MGA and MRU 2, ISK 0, UYW 4), not those of card schemes.
package money
