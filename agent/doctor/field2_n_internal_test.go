package doctor

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor/exam"
)

// TestField2_N1TheNameIsTimedApart: a slow name server was the backend's fault. Its time stands at the check of the name service, where it
// is worth a word, and nowhere else.
func TestField2_N1TheNameIsTimedApart(t *testing.T) {
	for named, want := range map[time.Duration][]string{0: nil, 20 * time.Millisecond: nil, 3200 * time.Millisecond: {"took", "3.2 s"}} {
		for _, w := range ways {
			found := w.look(&Facts{Config: Config{Backend: "https://pay.shop.test"}}, Answer{TLS: true, Named: named})
			if w.id != "PA-NET-002" {
				require.NotContains(t, found.Saw, "took", w.id)
				continue
			}
			require.Equal(t, exam.Pass, found.Status)
			require.Equal(t, want, found.Saw)
		}
	}
}
