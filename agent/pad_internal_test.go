package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/counter/prompts"
	"posagent/device/display/scene"
	"posagent/device/keypad/entry"
)

// TestScenes: what a person is asked for, as a screen draws it.
func TestScenes(t *testing.T) {
	choice := prompts.Face{Sale: "K", Turn: 3, Wanted: prompts.Method, Amount: 1250, Currency: "EUR", Pages: 1, Items: []prompts.Item{{Key: 1, Label: "Easy"}, {Key: 2, Label: "Swish"}}}
	require.Equal(t, scene.Scene{Kind: scene.Choice, Language: "de", Amount: "12,50 EUR", Options: []string{"Easy", "Swish"}, Of: scene.Origin{Sale: "K", Turn: 3, Pages: 1}}, sceneOf(choice, "de"))
	choice.Page, choice.Pages = 1, 2
	choice.Items = []prompts.Item{{Key: 1, Label: "Hand"}, {Key: 4, Label: "Ten"}}
	require.Equal(t, scene.Scene{Kind: scene.Choice, Language: "en", Amount: "12.50 EUR", Options: []string{"Hand", "", "", "Ten"}, Text: "2/2", Of: scene.Origin{Sale: "K", Turn: 3, Pages: 2}}, sceneOf(choice, "en"), "a number that takes nothing is left out")

	typed := prompts.Face{Wanted: prompts.Consumer, Method: "Hand", Amount: 1250, Currency: "JPY", Text: "7", Min: 1, Max: 255}
	require.Equal(t, scene.Scene{Kind: scene.Prompt, Title: "Hand", Language: "en", Amount: "1,250 JPY", Entry: scene.Entry{Wanted: scene.Consumer, Typed: "7", Min: 1, Max: 255}}, sceneOf(typed, "en"))
	require.Equal(t, scene.Scene{Kind: scene.Prompt, Title: "Hand", Language: "en", Entry: scene.Entry{Label: "Mobile number", Min: 2, Max: 4}},
		sceneOf(prompts.Face{Wanted: prompts.Prompted, Method: "Hand", Currency: "EUR", Label: "Mobile number", Min: 2, Max: 4}, "en"))
	require.Equal(t, scene.Entry{Wanted: scene.Sum}, sceneOf(prompts.Face{Wanted: prompts.Amount, Currency: "EUR", Min: 1, Max: 99}, "en").Entry)
	require.Equal(t, scene.Entry{Wanted: scene.Sum, Typed: "0.99 EUR"}, sceneOf(prompts.Face{Wanted: prompts.Amount, Currency: "EUR", Minor: 99}, "en").Entry)
	for note, want := range map[entry.Note]scene.Fault{
		entry.Fine: scene.NoFault, entry.TooShort: scene.TooFew, entry.TooLong: scene.NoFault, entry.TooSmall: scene.TooLittle, entry.TooLarge: scene.TooMuch, entry.Lost: scene.Again,
	} {
		require.Equal(t, want, sceneOf(prompts.Face{Wanted: prompts.Amount, Currency: "EUR", Note: note}, "en").Entry.Fault, note)
	}
}
