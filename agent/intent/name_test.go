package intent_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/intent"
)

type digester string

func (d digester) MAC(table, key string, fields ...any) []byte {
	mac := hmac.New(sha256.New, []byte(d))
	fmt.Fprintln(mac, table, key, fields)
	return mac.Sum(nil)
}

// TestField2_A3ANameIsKeptWithoutACardNumber: what is no card number stays as it is, also where it is long; the rest keeps its form up to
// each "/", differs from every other, and is its own kept form.
func TestField2_A3ANameIsKeptWithoutACardNumber(t *testing.T) {
	by := digester("key")
	for _, name := range []string{
		"", "order-17", "A000000001/order-17", "20261129101500", "1764411300000123456", "01a20563-7246-7227-9413-1aeb2a4d199a",
		"4111111111111112", "411111******1111~abcdefghijklmnop",
	} {
		require.Equal(t, name, intent.KeptName(by, name), name)
	}
	for _, name := range []string{"", "order-17", "~abcdefghijklmnop", "a~abcdefghijklmnop", "a*~abcdefghijklmnoq", "a*~abcdefghijklmno"} {
		require.Equal(t, name, intent.MaskedName(name), name)
	}
	seen := map[string]string{}
	for name, form := range map[string]string{
		"4111111111111111":              `^411111\*{6}1111~[a-p]{16}$`,
		"4111111111111111/":             `^411111\*{6}1111~[a-p]{16}/$`,
		"A1/4111 1111 1111 1111":        `^A1/4111 11\*\* \*{4} 1111~[a-p]{16}$`,
		"jsonl/till 4111111111111111/x": `^jsonl/till 411111\*{6}1111~[a-p]{16}/x$`,
		"2026112910150001":              `^202611\*{6}0001~[a-p]{16}$`, // a till's own number may be one by chance
		"4111112200065564":              `^411111\*{6}5564~[a-p]{16}$`,
		"4111112200145564":              `^411111\*{6}5564~[a-p]{16}$`,
	} {
		kept := intent.KeptName(by, name)
		require.Regexp(t, regexp.MustCompile(form), kept, name)
		require.Empty(t, seen[kept], name)
		seen[kept] = name
		require.Equal(t, kept, intent.KeptName(by, kept), name)
		require.NotContains(t, intent.MaskedName(kept), "~", name)
		require.Equal(t, strings.Count(name, "/"), strings.Count(intent.MaskedName(kept), "/"), name)
		require.NotEqual(t, kept, intent.KeptName(digester("another"), name), "the digest is keyed")
	}
}
