package pages

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A telephone's number pad has no slash.
func TestField_B1ExpiryAsCustomersTypeIt(t *testing.T) {
	for typed, want := range map[string]string{
		"1130": "2030-11", "11/30": "2030-11", "11 30": "2030-11", "11 / 30": "2030-11", " 11/30 ": "2030-11", "11/2030": "2030-11",
		"112030": "2030-11", "11 / 2030": "2030-11", "0169": "2069-01", "12/99": "2099-12",
		"": "", "11": "", "113": "", "1/30": "", "1330": "", "0030": "", "11/3": "", "11//30": "", "11-30": "", "11/203": "", "11/30/1": "",
		"11/1999": "", "aa/bb": "", "11/+3": "", "１１３０": "",
	} {
		month, over, ok := Expiry(typed)
		require.Equal(t, want != "", ok, "%q", typed)
		if ok {
			require.Equal(t, want, month.Format("2006-01"), "%q", typed)
			require.Equal(t, 1, over.Day(), "%q", typed)
			require.True(t, over.After(month), "%q", typed)
		}
	}
}
