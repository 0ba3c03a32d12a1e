package pages_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/view"
	"posagent/ecr"
)

// TestField2_L3ThePageShowsOlderOpenSales: the page showed the newest sales alone, and an older one that was open was on none.
func TestField2_L3ThePageShowsOlderOpenSales(t *testing.T) {
	for lang, title := range map[string]string{"en": "Older sales that are open", "de": "Ältere offene Verkäufe"} {
		page := full(lang)
		require.NotContains(t, whole(t, page.HTML()), title)
		page.Day.Open = []view.Sale{{ID: "s0", Kind: ecr.Payment, Amount: 4711, Currency: "EUR", Label: "Wallet One", Phase: "waiting", Created: page.Now.Add(-72 * time.Hour)}}
		html := whole(t, page.HTML())
		require.Contains(t, html, title)
		require.Regexp(t, `2026-11-20 14:00 47[.,]11 .* 13:59:00 12[.,]50 `, read(html), "before the newest ones")
	}
}
