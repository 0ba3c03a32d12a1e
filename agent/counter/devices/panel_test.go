package devices

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/keypad/entry"
	"posagent/ecr"
)

// glass remembers what was shown last.
type glass struct{ v display.View }

func (g *glass) Show(v display.View) error {
	g.v = v
	return nil
}

var (
	atRest = display.View{Kind: scene.Idle, Title: "Corner Shop"}
	sale   = display.View{Kind: scene.Code, Title: "Swish", Of: scene.Origin{Sale: "k"}}
)

func ready() bool { return true }

type said struct {
	ecr.Pressed
	err error
}

// ask asks in the background.
func ask(ctx context.Context, p *Panel, n ecr.Notice) chan said {
	out := make(chan said, 1)
	go func() {
		pressed, err := p.Notify(ctx, n)
		out <- said{pressed, err}
	}()
	synctest.Wait()
	return out
}

func code(err error) ecr.Code {
	var r *ecr.Refusal
	if errors.As(err, &r) {
		return r.Code
	}
	return ""
}

func TestATextIsShownForItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &glass{}
		p := New(Options{Screen: g, Language: "de", Sandbox: true})
		require.NoError(t, p.Show(atRest))
		_, err := p.Notify(t.Context(), ecr.Notice{Lines: []string{"Welcome", "to", "us"}, For: 5 * time.Second})
		require.NoError(t, err)
		require.Equal(t, display.View{Title: "Welcome", Text: "to us", Language: "de", Sandbox: true}, g.v)
		require.NoError(t, p.Show(atRest), "the checkout has nothing else to show")
		require.Equal(t, "Welcome", g.v.Title)
		require.False(t, p.Press(entry.Cancel), "a text takes no keys")
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Equal(t, atRest, g.v)

		_, err = p.Notify(t.Context(), ecr.Notice{Lines: []string{"stays"}})
		require.NoError(t, err)
		time.Sleep(time.Hour)
		require.Equal(t, "stays", g.v.Title)
		_, err = p.Notify(t.Context(), ecr.Notice{})
		require.NoError(t, err)
		require.Equal(t, atRest, g.v, "no text takes it off")
	})
}

// TestASaleTakesTheScreenAtOnce, with the keys; while it, or its result, is shown, no register has
// either.
func TestASaleTakesTheScreenAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &glass{}
		p := New(Options{Screen: g, Ready: ready})
		require.NoError(t, p.Show(atRest))
		number := ecr.Notice{Lines: []string{"Mileage"}, For: time.Minute, Wants: ecr.WantsDigits, Max: 6}
		out := ask(t.Context(), p, number)
		require.True(t, p.Press(entry.Digit(4)))
		require.Equal(t, "4", g.v.Entry.Typed)
		require.NoError(t, p.Show(sale))
		require.Equal(t, sale, g.v)
		require.Equal(t, ecr.Busy, code((<-out).err))
		require.False(t, p.Press(entry.Cancel), "it is the sale's key")

		for _, v := range []display.View{
			sale, {Kind: scene.Choice, Title: "Swish"}, {Kind: scene.Prompt, Title: "Swish"}, {Kind: scene.Waiting, Title: "Swish"},
			{Kind: scene.Message, Title: "Swish"}, {Kind: scene.Moment}, {Kind: scene.Paid}, {Kind: scene.NotPaid}, {Kind: scene.NoConnection},
		} {
			require.NoError(t, p.Show(v))
			for _, n := range []ecr.Notice{number, {Lines: []string{"A"}}, {}} {
				_, err := p.Notify(t.Context(), n)
				require.Equal(t, ecr.Busy, code(err), "%v", v.Kind)
				require.Equal(t, v, g.v)
			}
		}
		require.NoError(t, p.Show(atRest))
		require.NoError(t, p.Show(display.View{}))
		_, err := p.Notify(t.Context(), ecr.Notice{Lines: []string{"A"}})
		require.NoError(t, err)
		require.NoError(t, p.Show(sale))
		require.NoError(t, p.Show(atRest))
		require.Equal(t, atRest, g.v, "the text is gone for good")
	})
}

func TestKeysAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &glass{}
		p := New(Options{Screen: g, Ready: ready})
		require.NoError(t, p.Show(atRest))
		key := ecr.Notice{Lines: []string{"Receipt?"}, For: time.Minute, Wants: ecr.WantsKey}
		for k, want := range map[entry.Key]ecr.PanelKey{entry.Confirm: ecr.KeyConfirm, entry.Correct: ecr.KeyCorrect, entry.Cancel: ecr.KeyStop} {
			out := ask(t.Context(), p, key)
			require.Equal(t, []any{"Receipt?", true, "register"}, []any{g.v.Title, g.v.Of.Answer, g.v.Of.Sale})
			require.True(t, p.Press(entry.Digit(5)), "no key of the sale's, and no answer")
			require.True(t, p.Press(k))
			require.Equal(t, said{Pressed: ecr.Pressed{Key: want}}, <-out)
			require.Equal(t, atRest, g.v)
		}
		out := ask(t.Context(), p, key)
		turn := g.v.Of.Turn
		require.False(t, p.Tap("k", turn, entry.Confirm), "a picture of a sale")
		require.True(t, p.Tap("register", turn-1, entry.Confirm), "an older picture")
		synctest.Wait()
		select {
		case <-out:
			t.Fatal("an older picture answered")
		default:
		}
		require.True(t, p.Tap("register", turn, entry.Confirm))
		require.Equal(t, ecr.KeyConfirm, (<-out).Key)
		require.True(t, p.Tap("register", turn, entry.Confirm), "nothing is asked any more")

		for i, c := range []struct {
			keys []entry.Key
			want ecr.Pressed
		}{
			{[]entry.Key{entry.Digit(0), entry.Confirm, entry.Digit(4), entry.Digit(2), entry.Correct, entry.Digit(7), entry.Confirm}, ecr.Pressed{Key: ecr.KeyConfirm, Digits: "047"}},
			{[]entry.Key{entry.Digit(4), entry.Cancel}, ecr.Pressed{Key: ecr.KeyStop}},
		} {
			out := ask(t.Context(), p, ecr.Notice{Lines: []string{"Code", "please"}, For: time.Minute, Wants: ecr.WantsDigits, Min: 2, Max: 4, Masked: i == 0})
			require.Equal(t, scene.Entry{Label: "Code please", Min: 2, Max: 4, Masked: i == 0}, g.v.Entry)
			for at, k := range c.keys {
				require.True(t, p.Press(k))
				if i == 0 {
					require.Equal(t, at == 1, g.v.Entry.Fault == scene.TooFew, "one digit of two")
				}
				require.NotContains(t, g.v.Entry.Typed, "0", "masked")
			}
			require.Equal(t, said{Pressed: c.want}, <-out)
		}
	})
}

func TestAQuestionEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := &glass{}
		p := New(Options{Screen: g, Ready: ready})
		require.NoError(t, p.Show(atRest))
		key := ecr.Notice{Lines: []string{"Receipt?"}, For: 20 * time.Second, Wants: ecr.WantsKey}
		began := time.Now()
		got := <-ask(t.Context(), p, key)
		require.Equal(t, said{Pressed: ecr.Pressed{Key: ecr.KeyTimeout}}, got)
		require.Equal(t, 20*time.Second, time.Since(began))
		require.Equal(t, atRest, g.v)

		ctx, cancel := context.WithCancel(t.Context())
		out := ask(ctx, p, key)
		cancel()
		require.ErrorIs(t, (<-out).err, context.Canceled)
		require.Equal(t, atRest, g.v)
		require.False(t, p.Press(entry.Confirm))

		first := ask(t.Context(), p, key)
		second := ask(t.Context(), p, ecr.Notice{Lines: []string{"Bag?"}, For: time.Minute, Wants: ecr.WantsKey})
		require.Equal(t, ecr.Busy, code((<-first).err))
		require.Equal(t, "Bag?", g.v.Title)
		require.True(t, p.Press(entry.Confirm))
		require.Equal(t, ecr.KeyConfirm, (<-second).Key)
	})
}

func TestWhereNobodyCanAnswer(t *testing.T) {
	key := ecr.Notice{Lines: []string{"Receipt?"}, For: time.Second, Wants: ecr.WantsKey}
	for name, o := range map[string]Options{
		"no screen": {Ready: ready}, "no keys": {Screen: &glass{}}, "keys that are away": {Screen: &glass{}, Ready: func() bool { return false }},
	} {
		_, err := New(o).Notify(t.Context(), key)
		require.Equal(t, ecr.Impossible, code(err), name)
	}
	_, err := New(Options{}).Notify(t.Context(), ecr.Notice{Lines: []string{"A"}})
	require.Equal(t, ecr.Impossible, code(err))
	_, err = New(Options{Screen: &glass{}, Ready: ready}).Notify(t.Context(), ecr.Notice{Wants: ecr.WantsDigits, Min: 3, Max: 2})
	require.Equal(t, ecr.Impossible, code(err))
	require.Equal(t, ecr.Impossible, code(New(Options{}).Print(t.Context(), nil)))
}

// TestField2_D9ARegisterWritesBesideEachFaceOfATerminalAtRest: whether the terminal starts, is ready or is not, no sale is on its screen.
func TestField2_D9ARegisterWritesBesideEachFaceOfATerminalAtRest(t *testing.T) {
	for _, kind := range []scene.Kind{scene.Starting, scene.Idle, scene.NotReady} {
		g := &glass{}
		p := New(Options{Screen: g})
		require.NoError(t, p.Show(display.View{Kind: kind, Title: "Corner Shop"}))
		_, err := p.Notify(t.Context(), ecr.Notice{Lines: []string{"Welcome"}})
		require.NoError(t, err, kind)
		require.Equal(t, "Welcome", g.v.Title, kind)
		require.NoError(t, p.Show(display.View{Kind: scene.Idle}))
		require.Equal(t, "Welcome", g.v.Title, "it stays")
	}
}
