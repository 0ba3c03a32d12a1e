package methods

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"posagent/schemes/wire"
	"posagent/schemes/wire/check"
)

// Limits of what a definition may carry; longer texts are cut.
const (
	MaxExclude   = 1000 // ids in one query
	maxID        = 64   // baxId, terminalId
	maxName      = 255  // bytes
	maxLabel     = 64   // characters
	maxPush      = 128  // characters
	maxShortcut  = 16   // characters
	maxQueries   = 100  // per definition
	maxPromptLen = 1000 // characters of an answer
)

// Check implements check.Checked. It names the first rule that a question breaks.
func (q Query) Check(l *check.List) {
	switch {
	case !wire.PathWord(q.BaxID, maxID):
		l.Word("baxId", q.BaxID, maxID)
	case !wire.PathWord(q.TerminalID, maxID):
		l.Word("terminalId", q.TerminalID, maxID)
	case len(q.Exclude) > MaxExclude:
		l.Add("exclude", "more than "+strconv.Itoa(MaxExclude)+" ids")
	case !wire.PlainText(q.Caller, maxID):
		l.Add("caller", "want at most "+strconv.Itoa(maxID)+" characters")
	case !langTag(q.Lang):
		l.Add("lang", "want a language tag such as en or de-AT")
	}
}

// Validate checks what can be checked of a question without asking. The error is wire.Invalid.
func (q Query) Validate() error { return check.Request(list.Op, q) }

func langTag(s string) bool {
	if len(s) > 35 {
		return false
	}
	for i, part := range strings.FieldsFunc(s, func(r rune) bool { return r == '-' || r == '_' }) {
		for _, r := range part {
			letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
			if !letter && (i == 0 || r < '0' || r > '9') {
				return false
			}
		}
		if len(part) > 8 {
			return false
		}
	}
	return s == "" || len(s) >= 2
}

// Usable goes through a list and returns the definitions a terminal can work with, in their order. What can be
// mended (texts, colours, unknown words, a wrong default) is mended; what cannot (no name, a second definition with
// the same paymentProviderId, no known transaction type or trigger, prompts that no answer can satisfy or that do not
// exist) is left out. Every mend and every refusal is one problem. The input is not changed.
func Usable(defs []Definition) (good []Definition, problems []error) {
	seen := map[int32]bool{}
	good = []Definition{}
	for i, d := range defs {
		if i == MaxDefinitions {
			problems = append(problems, fmt.Errorf("%d definitions, only the first %d are used", len(defs), MaxDefinitions))
			break
		}
		note := func(format string, args ...any) {
			problems = append(problems, fmt.Errorf("definition %d (provider %d): %s", i, d.PaymentProviderID, fmt.Sprintf(format, args...)))
		}
		if reason := refuse(d, seen); reason != "" {
			note("left out: %s", reason)
			continue
		}
		seen[d.PaymentProviderID] = true
		good = append(good, mend(d, note))
	}
	return good, problems
}

func refuse(d Definition, seen map[int32]bool) string {
	switch {
	case seen[d.PaymentProviderID]:
		return "paymentProviderId: used before"
	case d.Name == "" || !wire.PlainText(d.Name, maxName):
		return fmt.Sprintf("name: want 1 to %d bytes without control characters", maxName)
	case !slices.ContainsFunc(d.TransactionTypes, knownType):
		return "transactionTypes: none that is known"
	case len(d.Trigger) > 0 && !slices.ContainsFunc(d.Trigger, knownTrigger):
		return "trigger: none that is known"
	}
	count := 0
	for _, m := range d.Queries {
		for id, q := range m {
			if count++; count > maxQueries {
				return fmt.Sprintf("queries: more than %d", maxQueries)
			}
			if q.Min < 0 || q.Max < 1 || q.Min > q.Max || q.Min > maxPromptLen {
				return fmt.Sprintf("queries: %q cannot be answered with min %d and max %d", short(id), q.Min, q.Max)
			}
		}
	}
	for _, f := range d.TxnQueryFlow {
		if len(f.QueryIDs) > maxQueries {
			return fmt.Sprintf("txnQueryFlow: more than %d queries", maxQueries)
		}
		for _, id := range f.QueryIDs {
			if _, ok := query(d, id); !ok {
				return "txnQueryFlow: query " + strconv.FormatInt(int64(id), 10) + " does not exist"
			}
		}
	}
	return ""
}

func mend(d Definition, note func(string, ...any)) Definition {
	d.TransactionTypes = filter(d.TransactionTypes, "transactionTypes", knownType, note)
	d.Trigger = filter(d.Trigger, "trigger", knownTrigger, note)
	if t := d.DefaultTrigger; t != nil && !HasTrigger(d, *t) {
		note("defaultTrigger: %q is not offered", short(string(*t)))
		d.DefaultTrigger = nil
	}
	d.OKCodes = filter(d.OKCodes, "okCodes", func(c OKCode) bool {
		return knownType(c.Type) && !never(c.Value) && wire.PlainText(c.Value, maxLabel)
	}, note)
	d.MerchRcptReq = filter(d.MerchRcptReq, "merchRcptReq", func(r ReceiptRule) bool {
		return knownType(r.FiTxnTypes) && (r.Req == Required || r.Req == NotRequired)
	}, note)
	d.TxnQueryFlow = filter(d.TxnQueryFlow, "txnQueryFlow", func(f QueryFlow) bool {
		return knownType(f.TransactionType) && (len(f.Triggers) == 0 || slices.ContainsFunc(f.Triggers, knownTrigger))
	}, note)
	d.Label = text(d.Label, "label", maxLabel, note)
	if d.Label == "" {
		d.Label = text(d.Name, "name", maxLabel, func(string, ...any) {})
	}
	d.WalletID = text(d.WalletID, "walletId", maxName, note)
	if d.DelayedAmount != 0 && d.DelayedAmount != 1 {
		note("delayedAmount: %d is neither 0 nor 1", d.DelayedAmount)
		d.DelayedAmount = 0
	}
	if d.Queries != nil {
		d.Queries = mendQueries(d.Queries, note)
	}
	if d.TriggerParams != nil && d.TriggerParams.Qr != nil {
		p := *d.TriggerParams.Qr
		p.PushText = text(p.PushText, "pushText", maxPush, note)
		p.ShortcutKey = text(p.ShortcutKey, "shortcutKey", maxShortcut, note)
		p.Type = text(p.Type, "type", maxShortcut, note)
		if !colour(p.BgColor) {
			note("bgcolor: not a colour")
			p.BgColor = ""
		}
		d.TriggerParams = &TriggerParams{Qr: &p}
	}
	return d
}

func mendQueries(in []map[string]QueryPrompt, note func(string, ...any)) []map[string]QueryPrompt {
	out := make([]map[string]QueryPrompt, len(in))
	for i, m := range in {
		out[i] = make(map[string]QueryPrompt, len(m))
		for id, q := range m {
			q.Label = text(q.Label, "query label", maxLabel, note)
			q.Max = min(q.Max, maxPromptLen)
			out[i][id] = q
		}
	}
	return out
}

func knownType(t TransactionType) bool { return t == Payment || t == Refund || t == Reversal }

func knownTrigger(t Trigger) bool { return t == Manual || t == QR }

// filter keeps the good entries, in a new slice, and notes that there were others.
func filter[T any](in []T, field string, ok func(T) bool, note func(string, ...any)) []T {
	var out []T
	for _, v := range in {
		if ok(v) {
			out = append(out, v)
		}
	}
	if n := len(in) - len(out); n > 0 {
		note("%s: %d unknown or unusable entries ignored", field, n)
	}
	return out
}

// text cuts s to limit characters and turns what cannot be shown into spaces.
func text(s, field string, limit int, note func(string, ...any)) string {
	out := strings.TrimSpace(strings.ToValidUTF8(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s), " "))
	if r := []rune(out); len(r) > limit {
		out = strings.TrimSpace(string(r[:limit]))
	}
	if out != s {
		note("%s: control characters, spaces around it or more than %d characters", field, limit)
	}
	return out
}

// colour accepts "", #rgb, #rrggbb with or without the #, and plain names.
func colour(s string) bool {
	hex, marked := strings.CutPrefix(s, "#")
	isHex := len(hex) == 3 || len(hex) == 6
	isName := !marked && len(s) <= 20
	for _, r := range hex {
		if !(r >= '0' && r <= '9' || r >= 'a' && r <= 'f' || r >= 'A' && r <= 'F') {
			isHex = false
		}
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z') {
			isName = false
		}
	}
	return isHex || isName
}

func short(s string) string {
	if r := []rune(s); len(r) > 32 {
		return string(r[:32]) + "…"
	}
	return s
}
