package prompts

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/agent/checkout"
	"posagent/agent/checkout/drive"
	"posagent/device/keypad/entry"
	"posagent/schemes/methods"
)

func method(name string, change ...func(*checkout.Pick)) checkout.Pick {
	p := checkout.Pick{Method: methods.Definition{Name: name, Label: strings.ToLower(name)}, Trigger: methods.QR}
	for _, c := range change {
		c(&p)
	}
	return p
}

func manual(p *checkout.Pick) { p.Trigger = methods.Manual }

func prompts(list ...methods.Prompt) func(*checkout.Pick) {
	return func(p *checkout.Pick) { p.Prompts = list }
}

func prompt(id, least, most int32) methods.Prompt {
	return methods.Prompt{ID: id, QueryPrompt: methods.QueryPrompt{Label: fmt.Sprint("label ", id), Min: least, Max: most}}
}

func shortcut(key string) func(*checkout.Pick) {
	return func(p *checkout.Pick) {
		p.Method.TriggerParams = &methods.TriggerParams{Qr: &methods.QRParams{ShortcutKey: key}}
	}
}

func many(n int) (list []checkout.Pick) {
	for i := range n {
		list = append(list, method(fmt.Sprint("M", i+1)))
	}
	return list
}

// keys reads "12<OK" as a person's keys: digits, < correct, ! confirm, x cancel, ^ up, v down, ~ gap, a to l are f1 to f12.
func keys(text string) (list []entry.Key) {
	other := map[rune]entry.Key{'<': entry.Correct, '!': entry.Confirm, 'x': entry.Cancel, '^': entry.Up, 'v': entry.Down, '~': entry.Gap}
	for _, r := range text {
		k, ok := other[r]
		switch {
		case ok:
		case r >= 'a' && r <= 'l':
			k = entry.F1 + entry.Key(r-'a')
		default:
			k = entry.Digit(int(r - '0'))
		}
		list = append(list, k)
	}
	return list
}

func TestDialogue(t *testing.T) {
	one, byHand := method("ONE"), method("HAND", manual)
	asked := method("ASKED", manual, prompts(prompt(7, 2, 4), prompt(9, 0, 3)))
	for name, c := range map[string]struct {
		offers []checkout.Pick
		amount int64 // 0 = it is asked for
		keys   string
		want   drive.Answer
		err    error
		then   Wanted // what is asked after the keys; "" = nothing
	}{
		"one method with the amount asked":     {[]checkout.Pick{one}, 0, "1250!", drive.Answer{Method: "ONE", Amount: 1250}, nil, ""},
		"no amount is no answer":               {[]checkout.Pick{one}, 0, "!0!", drive.Answer{}, nil, Amount},
		"an amount beyond what a sale may be":  {[]checkout.Pick{one}, 0, "9999999999999!", drive.Answer{Method: "ONE", Amount: 999_999_999_999}, nil, ""},
		"the first of several by confirm":      {many(3), 100, "!", drive.Answer{Method: "M1"}, nil, ""},
		"the third of several":                 {many(3), 100, "3", drive.Answer{Method: "M3"}, nil, ""},
		"a number that is not in the list":     {many(3), 100, "4", drive.Answer{}, nil, Method},
		"zero is nobody's number":              {many(12), 100, "0", drive.Answer{}, nil, Method},
		"the second page":                      {many(12), 100, "v2", drive.Answer{Method: "M11"}, nil, ""},
		"no page after the last":               {many(12), 100, "vvv3", drive.Answer{Method: "M12"}, nil, ""},
		"and back":                             {many(12), 100, "v^^2", drive.Answer{Method: "M2"}, nil, ""},
		"a shortcut of another page":           {append(many(12), method("LAST", shortcut("F2"))), 100, "b", drive.Answer{Method: "LAST"}, nil, ""},
		"a shortcut that two have":             {append(many(2), method("A", shortcut("f2")), method("B", shortcut("F2"))), 100, "b", drive.Answer{}, nil, Method},
		"a shortcut that is a digit":           {append(many(2), method("A", shortcut("1"))), 100, "1", drive.Answer{Method: "A"}, nil, ""},
		"the others take what is free":         {append(many(2), method("A", shortcut("1"))), 100, "2", drive.Answer{Method: "M1"}, nil, ""},
		"a digit that two have is the first's": {append(many(1), method("A", shortcut("5")), method("B", shortcut("5"))), 100, "5", drive.Answer{Method: "A"}, nil, ""},
		"and the second has a free one":        {append(many(1), method("A", shortcut("5")), method("B", shortcut("5"))), 100, "2", drive.Answer{Method: "B"}, nil, ""},
		"a shortcut nobody has":                {many(2), 100, "a", drive.Answer{}, nil, Method},
		"a consumer's id":                      {[]checkout.Pick{byHand}, 100, "0461<7!", drive.Answer{Method: "HAND", Trigger: methods.Manual, ConsumerID: "0467"}, nil, ""},
		"a consumer's id that is missing":      {[]checkout.Pick{byHand}, 100, "!", drive.Answer{}, nil, Consumer},
		"everything":                           {[]checkout.Pick{one, asked}, 0, "2" + "500!" + "46!" + "!", drive.Answer{Method: "ASKED", Trigger: methods.Manual, Amount: 500, Answers: map[int32]string{7: "46", 9: ""}}, nil, ""},
		"a prompt that is too short":           {[]checkout.Pick{asked}, 100, "1!", drive.Answer{}, nil, Prompted},
		"a prompt has no room for more":        {[]checkout.Pick{asked}, 100, "12345!12!", drive.Answer{Method: "ASKED", Trigger: methods.Manual, Answers: map[int32]string{7: "1234", 9: "12"}}, nil, ""},
		"cancelled while choosing":             {many(2), 100, "x", drive.Answer{}, drive.ErrCancelled, ""},
		"cancelled while typing":               {[]checkout.Pick{asked}, 100, "46!12x", drive.Answer{}, drive.ErrCancelled, ""},
		"keys after the end":                   {many(2), 100, "x1!", drive.Answer{}, drive.ErrCancelled, ""},
		"correction on nothing goes back":      {[]checkout.Pick{asked}, 100, "46!<", drive.Answer{}, nil, Prompted},
		"and what is asked again is empty":     {[]checkout.Pick{asked}, 100, "46!<12!3!", drive.Answer{Method: "ASKED", Trigger: methods.Manual, Answers: map[int32]string{7: "12", 9: "3"}}, nil, ""},
		"the id of who pays is never empty":    {[]checkout.Pick{method("HAND", manual, prompts(prompt(7, 0, 4)))}, 100, "!", drive.Answer{}, nil, Prompted},
		"back to the choice, and another one":  {[]checkout.Pick{one, asked}, 100, "2<1", drive.Answer{Method: "ONE"}, nil, ""},
		"back from the first stays":            {[]checkout.Pick{byHand}, 100, "<<5!", drive.Answer{Method: "HAND", Trigger: methods.Manual, ConsumerID: "5"}, nil, ""},
		"back twice asks what was asked":       {[]checkout.Pick{one, asked}, 0, "2" + "500!" + "<<" + "<" + "1" + "700!", drive.Answer{Method: "ONE", Amount: 700}, nil, ""},
		"lost keys while typing":               {[]checkout.Pick{byHand}, 100, "12~34!", drive.Answer{Method: "HAND", Trigger: methods.Manual, ConsumerID: "34"}, nil, ""},
		"lost keys while choosing":             {many(2), 100, "~2", drive.Answer{Method: "M2"}, nil, ""},
		"a prompt that nobody can type":        {[]checkout.Pick{method("LONG", prompts(prompt(1, 300, 400)))}, 100, "", drive.Answer{}, errUnasked, ""},
		"a prompt without an end is bounded":   {[]checkout.Pick{method("LONG", prompts(prompt(1, 1, 1000)))}, 100, strings.Repeat("7", 300) + "!", drive.Answer{Method: "LONG", Answers: map[int32]string{1: strings.Repeat("7", 255)}}, nil, ""},
		"keys of a pad that mean nothing here": {[]checkout.Pick{byHand}, 100, "1^va2!", drive.Answer{Method: "HAND", Trigger: methods.Manual, ConsumerID: "12"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDialogue(drive.Question{Offers: c.offers, Amount: c.amount, NeedAmount: c.amount == 0, Currency: "EUR"})
			for _, k := range keys(c.keys) {
				d.press(k)
			}
			require.ErrorIs(t, d.err, c.err)
			require.Equal(t, c.then, d.face().Wanted)
			if c.then != "" || c.err != nil {
				return
			}
			require.True(t, d.ended())
			if c.want.Answers == nil {
				c.want.Answers = map[int32]string{}
			}
			if c.want.Trigger == "" {
				c.want.Trigger = methods.QR
			}
			require.Equal(t, c.want, d.answer)
		})
	}
}

func TestFaces(t *testing.T) {
	d := newDialogue(drive.Question{Sale: "k", Offers: append(many(9), method("TEN", manual, shortcut("F3"), prompts(prompt(7, 2, 4)))), Amount: 1250, Currency: "EUR"})
	require.Equal(t, 2, d.face().Pages)
	require.Len(t, d.face().Items, 9)
	d.press(entry.Down)
	require.Equal(t, Face{Wanted: Method, Sale: "k", Amount: 1250, Currency: "EUR", Items: []Item{{Key: 1, Shortcut: "f3", Label: "ten"}}, Page: 1, Pages: 2}, d.face())
	d.press(entry.Digit(1))
	d.press(entry.Digit(4))
	d.press(entry.Confirm)
	require.Equal(t, Face{Wanted: Prompted, Sale: "k", Method: "ten", Amount: 1250, Currency: "EUR", Label: "label 7", Text: "4", Min: 2, Max: 4, Note: entry.TooShort, Back: true}, d.face())
}

// TestTwoWaysOfOneMethod: what is listed twice says how it is started.
func TestTwoWaysOfOneMethod(t *testing.T) {
	d := newDialogue(drive.Question{Offers: []checkout.Pick{method("EASY"), method("EASY", manual), method("ONE")}, Default: 2, Amount: 1250, Currency: "EUR"})
	require.Equal(t, []Item{{Key: 1, Label: "easy (QR)"}, {Key: 2, Label: "easy (123)"}, {Key: 3, Label: "one", Default: true}}, d.face().Items)
	d.press(entry.Digit(2))
	require.Equal(t, "easy (123)", d.face().Method)
	d.press(entry.Correct)
	d.press(entry.Confirm)
	require.Equal(t, drive.Answer{Method: "ONE", Trigger: methods.QR, Answers: map[int32]string{}}, d.answer, "confirm takes the default")
}

// screen remembers what was shown, and lets a test wait for it.
type screen struct {
	faces   []Face
	stops   int
	stopped string
}

func (s *screen) counter() *Counter {
	return New(Options{Show: func(f Face) { s.faces = append(s.faces, f) }, Stop: func(sale string) { s.stops++; s.stopped = sale }})
}

func (s *screen) last() Face { return s.faces[len(s.faces)-1] }

type answered struct {
	drive.Answer
	err error
}

// ask asks in the background.
func ask(ctx context.Context, c *Counter, q drive.Question) chan answered {
	out := make(chan answered, 1)
	go func() {
		a, err := c.Ask(ctx, q)
		out <- answered{a, err}
	}()
	synctest.Wait()
	return out
}

func TestAsk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		c := s.counter()
		for _, k := range keys("1!") { // nothing is asked
			c.Press(k)
		}
		require.Empty(t, s.faces)
		require.Zero(t, s.stops)
		out := ask(t.Context(), c, drive.Question{Offers: []checkout.Pick{method("HAND", manual)}, Amount: 100})
		require.Equal(t, Consumer, s.last().Wanted)
		f, ok := c.Face()
		require.True(t, ok)
		require.Equal(t, s.last(), f)
		for _, k := range keys("42!") {
			c.Press(k)
		}
		got := <-out
		require.NoError(t, got.err)
		require.Equal(t, "42", got.ConsumerID)
		_, ok = c.Face()
		require.False(t, ok)
		c.Press(entry.Digit(1))
		require.Zero(t, s.stops)
		c.Press(entry.Cancel)
		require.Equal(t, 1, s.stops, "cancel stops the sale that runs")
	})
}

func TestAskEndsWithTheSale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		c := s.counter()
		ctx, cancel := context.WithCancel(t.Context())
		out := ask(ctx, c, drive.Question{Offers: []checkout.Pick{method("HAND", manual)}, Amount: 100})
		c.Press(entry.Digit(4))
		d := c.now.d
		cancel()
		got := <-out
		require.ErrorIs(t, got.err, context.Canceled)
		require.Equal(t, drive.Answer{}, got.Answer)
		require.Empty(t, d.typing.View().Text, "what was typed is gone")
		c.Press(entry.Digit(4))
		c.Press(entry.Confirm)
		require.Zero(t, s.stops)

		first := ask(t.Context(), c, drive.Question{Sale: "first", Offers: []checkout.Pick{method("HAND", manual)}, Amount: 100})
		second := ask(t.Context(), c, drive.Question{Sale: "second", Offers: []checkout.Pick{method("HAND", manual)}, Amount: 200})
		require.ErrorIs(t, (<-first).err, context.Canceled)
		for _, k := range keys("7!") {
			c.Press(k)
		}
		require.Equal(t, "7", (<-second).ConsumerID)
	})
}

// TestTheDefaultBeginsByItself where nobody touches a key; a key says that somebody chooses.
func TestTheDefaultBeginsByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		c := s.counter()
		q := drive.Question{Offers: many(3), Default: 1, After: 15 * time.Second, Amount: 100}
		began := time.Now()
		got := <-ask(t.Context(), c, q)
		require.NoError(t, got.err)
		require.Equal(t, "M2", got.Method)
		require.Equal(t, 15*time.Second, time.Since(began))

		ctx, cancel := context.WithCancel(t.Context())
		out := ask(ctx, c, q)
		c.Press(entry.Down) // there is one page only
		time.Sleep(time.Minute)
		f, ok := c.Face()
		require.True(t, ok)
		require.Equal(t, Method, f.Wanted)
		cancel()
		require.ErrorIs(t, (<-out).err, context.Canceled)

		q.Offers[1] = method("HAND", manual)
		ctx, cancel = context.WithCancel(t.Context())
		out = ask(ctx, c, q)
		time.Sleep(time.Minute)
		f, ok = c.Face()
		require.True(t, ok, "what asks does not begin by itself")
		require.Equal(t, Method, f.Wanted)
		cancel()
		<-out
	})
}

func TestCancelInADialogueEndsIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		c := s.counter()
		out := ask(t.Context(), c, drive.Question{Offers: many(2), Amount: 100})
		c.Press(entry.Cancel)
		require.ErrorIs(t, (<-out).err, drive.ErrCancelled)
		require.Zero(t, s.stops, "the dialogue's end is the sale's")
	})
}

// FuzzDialogue: whatever is pressed, an answer names an offered method and keeps the bounds.
func FuzzDialogue(f *testing.F) {
	f.Add("2500!46!123!!", false)
	f.Add("v^x~<<1", true)
	f.Fuzz(func(t *testing.T, pressed string, amount bool) {
		offers := []checkout.Pick{method("ONE"), method("ASKED", manual, prompts(prompt(7, 2, 4), prompt(9, 0, 3)))}
		q := drive.Question{Offers: offers, NeedAmount: amount}
		if !amount {
			q.Amount = 100
		}
		d := newDialogue(q)
		for _, r := range pressed {
			if strings.ContainsRune("0123456789<!x^v~abcdefghijkl", r) {
				d.press(keys(string(r))[0])
			}
			_ = d.face()
		}
		if !d.ended() || d.err != nil {
			return
		}
		pick := offers[0]
		if d.answer.Method == "ASKED" {
			pick = offers[1]
			require.NotEmpty(t, d.answer.Answers[7], "the consumer's id")
		} else {
			require.Equal(t, "ONE", d.answer.Method)
		}
		require.NoError(t, checkout.CheckAnswers(pick.Prompts, d.answer.Answers))
		require.Equal(t, pick.Trigger, d.answer.Trigger)
		require.Empty(t, d.answer.ConsumerID)
		require.Equal(t, amount, d.answer.Amount > 0)
	})
}

// A tap counts only for the face that the picture showed: not for the one after it, and not for another sale.
func TestATapIsOfItsFace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &screen{}
		c := s.counter()
		out := ask(t.Context(), c, drive.Question{Sale: "A", Offers: []checkout.Pick{method("ONE"), method("HAND", manual)}, Amount: 100})
		choice := s.last()
		require.EqualValues(t, 1, choice.Turn)
		c.Tap("", choice.Turn, entry.Digit(1))
		c.Tap("B", choice.Turn, entry.Digit(1))
		c.Tap("A", choice.Turn+1, entry.Digit(1))
		c.Tap("A", 0, entry.Cancel)
		require.Equal(t, choice, s.last(), "nothing was pressed")
		c.Tap("A", choice.Turn, entry.Digit(2))
		require.Equal(t, Consumer, s.last().Wanted)
		c.Tap("A", choice.Turn, entry.Digit(2)) // tapped twice
		c.Tap("A", choice.Turn, entry.Cancel)
		require.Equal(t, Face{Wanted: Consumer, Sale: "A", Turn: 2, Method: "hand", Amount: 100, Min: 1, Max: 255, Back: true}, s.last())
		c.Tap("A", 2, entry.Digit(7))
		c.Press(entry.Digit(8)) // the pad is there too
		c.Tap("A", 3, entry.Digit(9))
		require.Equal(t, "78", s.last().Text)
		c.Tap("A", s.last().Turn, entry.Confirm)
		got := <-out
		require.NoError(t, got.err)
		require.Equal(t, "78", got.ConsumerID)
		synctest.Wait()
		require.Zero(t, s.stops)

		c.Tap("A", 5, entry.Cancel) // the last face of the dialogue is over
		c.Tap("", 0, entry.Cancel)
		c.Tap("A", 0, entry.Confirm)
		require.Zero(t, s.stops)
		c.Tap("A", 0, entry.Cancel)
		require.Equal(t, 1, s.stops)
		require.Equal(t, "A", s.stopped, "the sale that the picture showed")
	})
}
