package pages

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each text is there in both languages.
func TestEveryWordIsThere(t *testing.T) {
	for i, s := range texts {
		require.NotEmpty(t, s.en, i)
		require.NotEmpty(t, s.de, i)
	}
}
