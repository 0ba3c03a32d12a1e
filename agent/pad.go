package agent

import (
	"context"
	"errors"
	"fmt"

	"posagent/agent/checkout/drive"
	"posagent/agent/checkout/drive/perform"
	"posagent/agent/counter/devices"
	"posagent/agent/counter/printqueue"
	"posagent/agent/counter/prompts"
	"posagent/agent/port/customerpage"
	"posagent/device/display"
	"posagent/device/display/scene"
	"posagent/device/keypad"
	"posagent/device/keypad/entry"
	"posagent/device/printer"
	"posagent/ecr"
	"posagent/ecr/receipt"
	"posagent/schemes/money"
)

// Pad is where a person at the terminal types.
type Pad interface {
	// Run calls press with each key until ctx ends, and report when the pad came or went.
	Run(ctx context.Context, press func(entry.Key), report func(keypad.Status)) error
	Status() keypad.Status
}

// withPage is all that the customer sees, the page of the port first: it never keeps a sale waiting.
func (a *Agent) withPage() display.Screen {
	if !a.o.Page || a.o.Port == nil {
		return a.o.Screen
	}
	if a.page == nil {
		o := customerpage.Options{Now: a.o.Now}
		if a.o.PageKeys {
			o.Tap = func(sale string, turn uint64, k entry.Key) {
				if !a.panel.Tap(sale, turn, k) {
					a.counter.Tap(sale, turn, k)
				}
			}
		}
		a.page = customerpage.New(o)
	}
	if a.o.Screen == nil {
		return display.Fan(a.page)
	}
	return display.Fan(a.page, a.o.Screen)
}

// checkoutScreen is the customer's screen as the checkout has it, nil where there is none. Registers
// have it, the keys and the printer while no sale does.
func (a *Agent) checkoutScreen() display.Screen {
	shown := a.withPage()
	a.panel = devices.New(devices.Options{
		Screen: shown, Ready: func() bool { return a.counter != nil && a.counter.Ready() }, Print: a.printText,
		Language: a.o.Drive.Language, Sandbox: a.o.Drive.Sandbox,
	})
	if shown == nil {
		return nil
	}
	return a.panel
}

// printText stores what a register prints.
func (a *Agent) printText(ctx context.Context, lines []ecr.PrintLine) error {
	if a.paper == nil {
		return &ecr.Refusal{Code: ecr.Impossible}
	}
	err := a.paper.Text(ctx, lines)
	if errors.Is(err, printqueue.ErrTexts) || errors.Is(err, printer.ErrDocument) {
		return &ecr.Refusal{Code: ecr.NotReady, Text: err.Error()}
	}
	return err
}

// Unseen says that there is a page for the customer, and no browser shows it.
func (a *Agent) Unseen() bool { return a.page != nil && !a.page.Watched() }

// prompter lets the checkout ask the person at the pad or the page; nil where there is neither.
func (a *Agent) prompter() drive.Prompter {
	keys := a.page != nil && a.o.PageKeys
	if a.o.Keypad == nil && !keys {
		return nil
	}
	a.counter = prompts.New(prompts.Options{
		Show: func(f prompts.Face) { a.drive.ShowDialogue(f.Sale, sceneOf(f, a.o.Drive.Language)) },
		Stop: func(sale string) { a.drive.StopPayment(sale) },
		Ready: func() bool {
			return a.o.Keypad != nil && a.o.Keypad.Status().Open || keys && a.page.Watched()
		},
		Log: a.o.Log,
	})
	return a.counter
}

// readPad hands the keys over until ctx ends.
func (a *Agent) readPad(ctx context.Context) error {
	press := func(k entry.Key) {
		if !a.panel.Press(k) {
			a.counter.Press(k)
		}
	}
	return a.o.Keypad.Run(ctx, press, func(s keypad.Status) {
		if s.Open {
			a.o.Log.Info("keypad", "path", s.Path, "name", s.Name, "open", true)
			return
		}
		a.o.Log.Warn("keypad", "path", s.Path, "open", false, "why", s.LastError)
	})
}

// sceneOf is what a person is asked for, as a screen draws it.
func sceneOf(f prompts.Face, language string) scene.Scene {
	v := scene.Scene{Title: f.Method, Language: language, Of: scene.Origin{Sale: f.Sale, Turn: f.Turn, Pages: f.Pages}}
	switch w := receipt.WordsFor(language); f.Kind {
	case ecr.Refund:
		v.Title = w.Refund + " " + f.Method
	case ecr.Reversal:
		v.Title = w.Reversal + " " + f.Method
	}
	show := func(minor int64) string {
		if minor == 0 {
			return ""
		}
		return perform.Amount(language, money.Minor(minor), f.Currency)
	}
	v.Amount = show(f.Amount)
	if f.Wanted == prompts.Method {
		v.Kind = scene.Choice
		v.Options = make([]string, scene.MaxOptions)
		for _, it := range f.Items {
			v.Options[it.Key-1] = it.Label
		}
		for len(v.Options) > 0 && v.Options[len(v.Options)-1] == "" {
			v.Options = v.Options[:len(v.Options)-1]
		}
		if f.Pages > 1 {
			v.Text = fmt.Sprintf("%d/%d", f.Page+1, f.Pages)
		}
		return v
	}
	v.Kind = scene.Prompt
	v.Entry = scene.Entry{Label: f.Label, Typed: f.Text, Min: int(f.Min), Max: int(f.Max)}
	switch f.Wanted {
	case prompts.Consumer:
		v.Entry.Wanted = scene.Consumer
	case prompts.Amount:
		v.Entry = scene.Entry{Wanted: scene.Sum, Typed: show(f.Minor)}
	}
	v.Entry.Fault = devices.FaultOf(f.Note)
	return v
}
