package ready_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/ready"
)

// TestField2_N8CommandsTakeANameAlone: `getent hosts NAME:PORT` was a remedy that nobody had run: it finds nothing. No command of a remedy
// that takes a name is given a port; an address with a port stands in curl's alone.
func TestField2_N8CommandsTakeANameAlone(t *testing.T) {
	named := 0
	for where, name := range map[string]string{"pay.example:8443": "pay.example", "pay.example": "pay.example", "[2001:db8::7]:443": "2001:db8::7"} {
		for _, cause := range ready.Causes() {
			remedy := ready.Say(ready.Trouble{Cause: cause, Where: where}, ready.Place{Config: "/c.toml"}).Remedy
			for _, found := range regexp.MustCompile(`\b(?:getent hosts|ping|dig) ([^ ;,]+)`).FindAllStringSubmatch(remedy, -1) {
				named++
				require.Equal(t, name, found[1], remedy)
			}
		}
	}
	require.Equal(t, 3, named)
}

// TestField2_N5RemediesOfCertificates: the remedies pointed at settings that were right.
func TestField2_N5RemediesOfCertificates(t *testing.T) {
	say := func(c ready.Cause, detail string) string {
		return ready.Say(ready.Trouble{Cause: c, Where: "pay.example:443", Detail: detail}, ready.Place{Config: "/c.toml"}).Text()
	}
	text := say("wrong_name", `"login.guest.test", issuer "login.guest.test"`)
	require.Contains(t, text, `for another name, "login.guest.test", issuer "login.guest.test": if it has answered before, the network has put something in its place`)
	require.Contains(t, say("no_chain", `issuer "Case Intermediate"`), `from an authority that is not trusted, issuer "Case Intermediate", and it came alone: call the backend's operator: where the issuer is an intermediate one, the server has to send`)
}
