package pages

import (
	"net/http"
	"strings"
	"time"
)

// ExpiryPattern is the pattern of a field that Expiry reads, for the browser's own check.
const ExpiryPattern = " *(0[1-9]|1[0-2]) ?/? ?([0-9]{2}){1,2} *"

// MaxExpiry is the longest text that is an expiry, in characters.
const MaxExpiry = 9

// Expiry reads a card's expiry as customers type it: MMYY, MM/YY or MM YY, also with the year in full. It returns the first
// moment after the card's last month in UTC and the month itself, and false where the text is no month of this century.
func Expiry(typed string) (month, over time.Time, ok bool) {
	typed = strings.TrimSpace(typed)
	if len(typed) < len("0106") {
		return month, over, false
	}
	mm, yy := typed[:2], strings.TrimLeft(strings.TrimPrefix(strings.TrimLeft(typed[2:], " "), "/"), " ")
	if len(yy) == 2 {
		yy = "20" + yy
	}
	month, err := time.Parse("012006", mm+yy)
	if err != nil || month.Year() < 2000 || month.Year() > 2099 {
		return time.Time{}, over, false
	}
	return month, month.AddDate(0, 1, 0), true
}

// FormatExpiry is the text of a function in a script: it formats the expiry in an input while the customer types.
const FormatExpiry = `function formatExpiry(input) {
	input.addEventListener("input", e => {
		if ((e.inputType || "").startsWith("delete") || input.selectionStart !== input.value.length) return;
		const digits = input.value.replace(/\D/g, "").slice(0, 6);
		input.value = digits.length < 2 ? digits : digits.slice(0, 2) + "/" + digits.slice(2);
	});
}
`

// CardScript is the script of a page with a card form. The form works without it.
const CardScript = `"use strict";
` + FormatExpiry + `document.querySelectorAll('input[autocomplete="cc-exp"]').forEach(formatExpiry);
`

// Script serves the text of a script of ours.
func Script(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		_, _ = w.Write([]byte(text)) // a lost connection has no reader
	}
}
