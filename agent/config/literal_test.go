package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/config"
)

func TestLiteral(t *testing.T) {
	for _, c := range []struct{ key, value, want string }{
		{"offline.max_count", "50", "50"}, {"methods.poll", "3s", `"3s"`}, {"display.page", "true", "true"}, {"backend.wallet_delay", "2s", `"2s"`},
		{"offline.services", "payments, tokens", `["payments", "tokens"]`}, {"methods.exclude", "4,7", "[4, 7]"}, {"operator.name", `a"b`, `"a\"b"`},
	} {
		got, err := config.Literal(c.key, c.value)
		require.NoError(t, err, c.key)
		require.Equal(t, c.want, got)
	}
	for _, c := range []struct{ key, value, why string }{
		{"offline.max_cuont", "50", "did you mean offline.max_count?"}, {"a", "1", "unknown key"}, {"offline.max_count", "many", "want a whole number"},
		{"methods.poll", "3", "has no unit"}, {"port.token", "x", "a secret"}, {"port.clients", "x", "a secret"}, {"ecr.password", "123456", "a secret"},
	} {
		_, err := config.Literal(c.key, c.value)
		require.ErrorContains(t, err, c.why, c.key)
	}
}
