package drive_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/ecr"
	"posagent/schemes/wire"
)

// TestField2_N4AnswersThatCannotBeReadAreTold: each status of a sale had its id as a text, and 63 reads a minute told nobody. After a
// minute it is said which field of which reply it is; a reply that can be read ends it, one that did not come says nothing.
func TestField2_N4AnswersThatCannotBeReadAreTold(t *testing.T) {
	for body, field := range map[string]string{
		`{"transactionId":"10000001"}`:           "status, the field transactionId, ",
		`{"transactionId":10000001.0}`:           "status, the field transactionId, ",
		`{"transactionId":92233720368547758079}`: "status, the field transactionId, ",
		`{"transactionId":1`:                     "status, its form is not the contract's",
	} {
		terminal(t, func(r *rig) {
			var into struct {
				TransactionID int64 `json:"transactionId"`
			}
			call := wire.Call{Op: "status"}
			unread := call.Read(wire.Answer{Status: 200, Body: []byte(body), Header: map[string][]string{"Content-Type": {"application/json"}}}, &into)
			on := true
			r.world.onRead = func() error {
				if on {
					return unread
				}
				return nil
			}
			s := r.sale(500)
			pass(30 * time.Second)
			require.Empty(t, r.Drive.Unreadable(), "a moment is nothing")
			require.Equal(t, ecr.Aborted, (<-s.Outcome).Result, "never approved")
			r.Told(s, ecr.Told)
			require.Contains(t, r.Drive.Unreadable(), field)
			require.NotContains(t, r.Drive.Unreadable(), "1000", "no value of a reply")

			r.world.lock(func() { on = false; r.world.onStatus = approveAfter(r.world, 2) })
			r.Approved(r.sale(700), ecr.Told)
			require.Empty(t, r.Drive.Unreadable())
		})
	}
}
