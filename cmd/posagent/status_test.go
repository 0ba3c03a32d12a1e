package main

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/view"
)

// A sale of which the register has its final answer is not counted as open, though the terminal still looks after it.
func TestADeclinedSaleIsNotCalledOpen(t *testing.T) {
	var out bytes.Buffer
	sale := func(id, phase string) view.Sale {
		return view.Sale{ID: id, Phase: phase, Amount: 90003, Currency: "EUR"}
	}
	v := statusView{Status: view.Status{Open: []view.Sale{sale("a", "WAITING"), sale("b", "DECLINED"), sale("c", "CONFIRMED"), sale("d", "UNCONFIRMED")}}}
	v.print(&call{std: std{out: &out}})
	for _, line := range []string{
		"sales      2 open, 2 over at the register and watched\n", "a     900.03 EUR  WAITING\n", "b     900.03 EUR  DECLINED, watched until it can no longer change\n",
		"c     900.03 EUR  CONFIRMED, watched until the backend has settled it\n", "d     900.03 EUR  UNCONFIRMED\n",
	} {
		require.Contains(t, out.String(), line)
	}
	out.Reset()
	v.Open = nil
	v.print(&call{std: std{out: &out}})
	require.Contains(t, out.String(), "sales      0 open\n")
}
