package disputestest

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/schemes/disputes"
	"posagent/schemes/wire"
)

func doc(id, text string) disputes.Document {
	return disputes.Document{Binary: disputes.Bytes([]byte(text)), ID: id, Type: "RECEIPT", MimeType: "text/plain"}
}

func (r *run) documents(t *testing.T) {
	t.Run("come back", func(t *testing.T) {
		p := r.buy(t)
		req := r.request(t, p)
		texts := []string{"a", "one\x00\xff two", strings.Repeat("three ", 100_000)}
		for i, text := range texts {
			req.DocumentsList = append(req.DocumentsList, doc(p.ID+"-"+string(rune('a'+i)), text))
		}
		out := r.made(t, req)
		require.Equal(t, disputes.Done, out.ResponseCode)
		require.Empty(t, out.Documents)
		list := r.read(t, out.CaseNumber).Documents
		require.Len(t, list, len(texts))
		for i, text := range texts {
			require.Equal(t, "RECEIPT", list[i].Type)
			require.Equal(t, req.DocumentsList[i].ID, list[i].Description)
			require.NotEmpty(t, list[i].Updated)
			for _, id := range []string{list[i].ID, req.DocumentsList[i].ID} {
				f, err := r.Service.Document(t.Context(), id, int64(len(text)))
				require.NoError(t, err)
				require.Equal(t, req.DocumentsList[i].ID, f.Name)
				require.Equal(t, "text/plain", f.Description)
				require.True(t, text == content(t, f.Content), "document %d", i)
				require.Equal(t, disputes.Bytes([]byte(text)).SHA256, f.Content.SHA256)
				require.True(t, text == content(t, f.Content), "as often as needed")
				require.NoError(t, f.Close())
			}
		}
		_, err := r.Service.Document(t.Context(), list[1].ID, 4)
		require.Equal(t, wire.TooLarge, wire.CodeOf(err), "%v", err)
	})
	t.Run("some are not taken", func(t *testing.T) {
		p := r.buy(t)
		req := r.request(t, p)
		odd := doc("odd", "x")
		odd.MimeType = "pdf"
		req.DocumentsList = []disputes.Document{doc("good", "x"), doc("empty", ""), odd, doc("good", "y"),
			{Binary: disputes.Bytes(bytes.Repeat([]byte("L"), disputes.MaxDocument+1)), ID: "large"}}
		out := r.made(t, req)
		require.Equal(t, disputes.Partial, out.ResponseCode)
		var got [][2]string
		for _, e := range out.Documents {
			require.Equal(t, out.CaseNumber, e.ClaimID)
			require.NotEmpty(t, e.Text)
			got = append(got, [2]string{e.DocumentID, e.Code})
		}
		require.Equal(t, [][2]string{{"empty", disputes.DocumentEmpty}, {"odd", disputes.DocumentMimeType}, {"good", disputes.DocumentTwice}, {"large", disputes.DocumentTooLarge}}, got)
		require.Len(t, r.read(t, out.CaseNumber).Documents, 1)
		more, err := r.Service.Update(t.Context(), "", out.CaseNumber, disputes.UpdateRequest{DocumentsList: []disputes.Document{doc("good", "z"), doc("second", "z")}})
		require.NoError(t, err)
		require.Equal(t, disputes.Partial, more.ResponseCode)
		require.Len(t, more.Documents, 1)
		require.Equal(t, disputes.DocumentTwice, more.Documents[0].Code)
		require.Len(t, r.read(t, out.CaseNumber).Documents, 2)
	})
	t.Run("names are plain", func(t *testing.T) {
		p := r.buy(t)
		req := r.request(t, p)
		for _, name := range []string{"../../etc/cron.d/x", `C:\autoexec.bat`, "...", "/"} {
			req.DocumentsList = append(req.DocumentsList, doc(name, name))
		}
		list := r.read(t, r.made(t, req).CaseNumber).Documents
		for i, want := range []string{"x", "autoexec.bat", "document", "document"} {
			f, err := r.Service.Document(t.Context(), list[i].ID, 0)
			require.NoError(t, err)
			require.Equal(t, want, f.Name)
			require.NoError(t, f.Close())
		}
	})
	t.Run("too many", func(t *testing.T) {
		req := r.request(t, r.buy(t))
		for range 21 {
			req.DocumentsList = append(req.DocumentsList, doc("", "x"))
		}
		_, err := r.Service.Create(t.Context(), "", req)
		require.Contains(t, []wire.Code{wire.Invalid, wire.TooLarge}, wire.CodeOf(err), "%v", err)
	})
}

// moves walks every move from every queue.
func (r *run) moves(t *testing.T) {
	update := func(t *testing.T, number string, m disputes.Move) error {
		req := disputes.UpdateRequest{Notes: "moved"}
		switch m {
		case disputes.Submit:
			req.SubmitDispute = disputes.Yes
		case disputes.Close:
			req.CloseDispute = disputes.Yes
		case disputes.Acknowledge:
			req.AcknowledgeClosure = disputes.Yes
		case disputes.Reject:
			req.RejectClosure = disputes.Yes
		}
		_, err := r.Service.Update(t.Context(), wire.NewKey(), number, req)
		return err
	}
	reach := map[disputes.Queue][]disputes.Move{
		disputes.Issuer: {}, disputes.AwaitingSubmission: {disputes.Prepare}, disputes.FirstLineIssuer: {disputes.Submit},
		disputes.AwaitingFeedback: {disputes.Submit, disputes.Answer}, disputes.Closed: {disputes.Close}, disputes.FirstLineOperator: nil, disputes.NotPossible: nil,
	}
	require.Len(t, reach, len(disputes.Queues()))
	for from, path := range reach {
		for m := disputes.Prepare; m <= disputes.Reject; m++ {
			t.Run(from.Name(), func(t *testing.T) {
				p := r.buy(t)
				req := r.request(t, p)
				straight := path == nil
				if straight {
					req.ClaimValidationRequired, req.CardSchemeDisputeReasonCode = disputes.No, "4853"
				}
				lost := from == disputes.NotPossible
				if lost {
					r.Refund(t, p)
				}
				number := r.made(t, req).CaseNumber
				for _, step := range path {
					if step == disputes.Answer {
						r.Answer(t)
					} else {
						require.NoError(t, update(t, number, step))
					}
				}
				if at := r.read(t, number).Statuses[0].Status; at != from.String() {
					require.True(t, straight && at == disputes.AwaitingFeedback.String(), "the operator was quick: %s", at)
					return
				}
				to, ok := disputes.Next(from, m, straight, lost)
				err := update(t, number, m)
				if after := r.read(t, number); !ok {
					if from == disputes.FirstLineIssuer || from == disputes.FirstLineOperator { // the operator may have been quick
						require.True(t, err == nil || wire.ReasonOf(err) == disputes.WrongStatus, "%v", err)
						return
					}
					require.Equal(t, wire.Conflict, wire.CodeOf(err), "%v", err)
					require.Equal(t, disputes.WrongStatus, wire.ReasonOf(err))
					require.Equal(t, from.String(), after.Statuses[0].Status)
				} else {
					require.NoError(t, err)
					require.Contains(t, []string{to.String(), disputes.AwaitingFeedback.String()}, after.Statuses[0].Status)
					if to != disputes.FirstLineIssuer && to != disputes.FirstLineOperator {
						require.Equal(t, to.String(), after.Statuses[0].Status)
					}
				}
			})
		}
	}
	t.Run("a refunded purchase cannot be submitted", func(t *testing.T) {
		p := r.buy(t)
		number := r.made(t, r.request(t, p)).CaseNumber
		r.Refund(t, p)
		require.NoError(t, update(t, number, disputes.Submit))
		require.Equal(t, disputes.NotPossible.String(), r.read(t, number).Statuses[0].Status)
	})
}

func (r *run) updates(t *testing.T) {
	p := r.buy(t)
	out := r.made(t, r.request(t, p))
	one := r.read(t, out.CaseNumber)
	_, err := r.Service.Update(t.Context(), wire.NewKey(), out.CaseNumber, disputes.UpdateRequest{
		AccessToken: "token", UserID: "user", Password: "word", CardNumber: r.seal(t, p.PAN), CardID: one.PanID, CaseNumber: out.CaseNumber,
		GroupNumber: out.GroupNumber, InterimAccount: "1930", Notes: "second note", PrivateNotes: "canary of ours",
		AdditionalInformation: []disputes.Pair{{Name: "branch", Value: "13"}, {Name: "floor", Value: "2"}},
		DocumentsList:         []disputes.Document{doc("late", "x")},
	})
	require.NoError(t, err)
	one = r.read(t, out.CaseNumber)
	require.Equal(t, []disputes.Pair{{Name: "branch", Value: "13"}, {Name: "floor", Value: "2"}}, one.AdditionalData)
	require.Equal(t, "second note", one.Statuses[0].FreeText)
	require.Equal(t, disputes.AwaitingSubmission.String(), one.Statuses[0].Status)
	require.Len(t, one.Documents, 1)
	for name, req := range map[string]disputes.UpdateRequest{
		"card id": {CardID: "none"}, "group": {GroupNumber: "1"}, "card": {CardNumber: r.seal(t, wire.NewPAN("6759649826438453"))}, "case": {CaseNumber: "1"},
		"two moves": {SubmitDispute: disputes.Yes},
	} {
		req.CloseDispute = disputes.Yes
		_, err := r.Service.Update(t.Context(), "", out.CaseNumber, req)
		require.Equal(t, wire.Invalid, wire.CodeOf(err), "%s: %v", name, err)
	}
	require.Equal(t, one, r.read(t, out.CaseNumber), "nothing happened")
}

// paging walks a queue and a list, while cases are added.
func (r *run) paging(t *testing.T) {
	want := map[string]bool{}
	for range 7 {
		req := r.request(t, r.buy(t))
		req.IssuerSuperCaseID = r.mark
		want[r.made(t, req).CaseNumber] = true
	}
	q := disputes.ListRequest{AdditionalSearchIndex: []disputes.Index{{Name: "issuerSuperCaseID", Value: r.mark}}, Limit: 3}
	var got []string
	for n := 0; ; n++ {
		out, err := r.Service.List(t.Context(), q)
		require.NoError(t, err)
		require.EqualValues(t, len(out.Cases), out.Count)
		require.Equal(t, out.NextPageKey != "", out.More == disputes.Yes)
		for _, c := range out.Cases {
			got = append(got, c.CaseNumber)
		}
		if n == 1 { // one more, behind
			req := r.request(t, r.buy(t))
			req.IssuerSuperCaseID = r.mark
			want[r.made(t, req).CaseNumber] = true
		}
		if q.NextPageKey = out.NextPageKey; q.NextPageKey == "" {
			break
		}
		require.Len(t, out.Cases, 3)
	}
	require.Len(t, got, len(want), "every case once")
	for _, number := range got {
		require.True(t, want[number])
	}
	seen := map[string]bool{}
	for queue := (disputes.QueueRequest{QueueID: int32(disputes.Issuer), UserID: "u", Password: "p", AccessToken: "t"}); ; {
		out, err := r.Service.Queue(t.Context(), queue)
		require.NoError(t, err)
		require.Equal(t, disputes.Issuer.Name(), out.QueueName)
		require.EqualValues(t, len(out.Cases), out.Count)
		for _, c := range out.Cases {
			require.False(t, seen[c.CaseNumber])
			require.Len(t, c.AcquiringReferenceNumber, 23)
			require.NotEmpty(t, c.MaskedCardNumber)
			seen[c.CaseNumber] = true
		}
		if queue.NextPageKey = out.NextPageKey; queue.NextPageKey == "" {
			break
		}
	}
	for number := range want {
		require.True(t, seen[number], number)
	}
	closed, err := r.Service.Queue(t.Context(), disputes.QueueRequest{QueueID: int32(disputes.Closed), IsOpen: disputes.Yes})
	require.NoError(t, err)
	require.Empty(t, closed.Cases)
	open, err := r.Service.Queue(t.Context(), disputes.QueueRequest{QueueID: int32(disputes.Issuer), IsOpen: disputes.No})
	require.NoError(t, err)
	require.Empty(t, open.Cases)
}
