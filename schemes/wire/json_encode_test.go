package wire

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type card struct {
	PAN  PAN    `json:"pan" wire:"required"`
	Year int32  `json:"year,omitempty" wire:"required"`
	Code Secret `json:"code,omitempty"`
}

type hook struct {
	Name    string              `json:"name" wire:"required"`
	Secret  Secret              `json:"secret,omitempty"`
	Headers []map[string]Secret `json:"headers,omitempty"`
}

type note struct {
	Text string `json:"text,omitempty" wire:"masked"`
	Ref  string `json:"ref,omitempty"`
}

type sealed struct {
	Path string `json:"-"`
	note
	Card  *card    `json:"card,omitempty"`
	Hooks []hook   `json:"hooks,omitempty"`
	List  []string `json:"list" wire:"list"`
	Token Secret   `json:"token" wire:"nullable"`
	Notes []note   `json:"notes,omitempty"`
}

// plainSealed is what Encode writes of sealed, as encoding/json is told it.
type plainSealed struct {
	Text string `json:"text,omitempty"`
	Ref  string `json:"ref,omitempty"`
	Card *struct {
		PAN  string `json:"pan"`
		Year int32  `json:"year,omitempty"`
		Code string `json:"code,omitempty"`
	} `json:"card,omitempty"`
	Hooks []struct {
		Name    string              `json:"name"`
		Secret  string              `json:"secret,omitempty"`
		Headers []map[string]string `json:"headers,omitempty"`
	} `json:"hooks,omitempty"`
	List  []string `json:"list"`
	Token *string  `json:"token"`
	Notes []note   `json:"notes,omitempty"`
}

func TestEncodeRevealsWhatMarshalHides(t *testing.T) {
	v := sealed{Path: "p", note: note{Text: "<a&b>", Ref: "4111111111111111"}, Card: &card{PAN: NewPAN("4111111111111111"), Year: 2030, Code: "123"},
		Hooks: []hook{{Name: "n", Secret: "s\"1", Headers: []map[string]Secret{{"b": "2", "a": "1"}}}}, Token: "t"}
	data, err := Encode(v)
	require.NoError(t, err)
	require.Equal(t, `{"text":"\u003ca\u0026b\u003e","ref":"4111111111111111","card":{"pan":"4111111111111111","year":2030,"code":"123"},`+
		`"hooks":[{"name":"n","secret":"s\"1","headers":[{"a":"1","b":"2"}]}],"list":[],"token":"t"}`, string(data))
	same, err := Encode(&v)
	require.NoError(t, err)
	require.Equal(t, data, same)
	require.ElementsMatch(t, []string{"4111111111111111", "123", "s\"1", "1", "2", "t"}, Secrets(v))
	require.Empty(t, Secrets(sealed{}))
	require.Empty(t, Secrets(note{Text: "x"}))
	require.Empty(t, Secrets(nil))

	_, err = json.Marshal(v)
	require.ErrorContains(t, err, "card number")
	v.Card = nil
	data, err = json.Marshal(v)
	require.NoError(t, err)
	require.NotContains(t, string(data), "s\\\"1")
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", v, v, v), "s\"1")

	data, err = Encode(sealed{})
	require.NoError(t, err)
	require.Equal(t, `{"list":[],"token":null}`, string(data))
	data, err = Encode(nil)
	require.NoError(t, err)
	require.Equal(t, `null`, string(data))
	_, err = Encode(struct {
		N json.Number
		S Secret
	}{"x", "s"})
	require.Error(t, err)
}

// Whatever is in it, Encode writes what encoding/json writes of a type without secrets.
func TestEncodeIsMarshalWithoutSecrets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringMatching(`[ -~é<>&\x{2028}]{0,8}`)
		v := sealed{note: note{Text: text.Draw(t, "text"), Ref: text.Draw(t, "ref")}, Token: Secret(text.Draw(t, "token")), List: []string{text.Draw(t, "item")}}
		if rapid.Bool().Draw(t, "card") {
			v.Card = &card{PAN: NewPAN(text.Draw(t, "pan")), Year: rapid.Int32().Draw(t, "year"), Code: Secret(text.Draw(t, "code"))}
		}
		for range rapid.IntRange(0, 3).Draw(t, "hooks") {
			v.Hooks = append(v.Hooks, hook{Name: text.Draw(t, "name"), Secret: Secret(text.Draw(t, "secret")), Headers: []map[string]Secret{{text.Draw(t, "key"): "v"}}})
			v.Notes = append(v.Notes, note{Text: text.Draw(t, "note")})
		}
		data, err := Encode(v)
		require.NoError(t, err)
		var plain plainSealed
		require.NoError(t, json.Unmarshal(data, &plain))
		want, err := json.Marshal(plain)
		require.NoError(t, err)
		require.Equal(t, string(want), string(data))
		for _, other := range []any{v.note, v.Notes, v.List, map[string]int{"b": 1, "a": 2}, &v.note, (*note)(nil), "x", 1, true, []note(nil)} {
			got, err := Encode(other)
			require.NoError(t, err)
			want, err := json.Marshal(other)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got))
		}
	})
}

// What a tag says of a field holds wherever the field stands: below pointers, in lists, in embedded structs.
func TestDecodeKeepsTheTags(t *testing.T) {
	v, err := Parse[sealed]("op", []byte(`{"text":"a 4111111111111111","ref":"4111111111111111","list":[],"token":null,"notes":[{"text":"5555555555554444"}],"card":{"pan":"1","year":1}}`))
	require.NoError(t, err)
	require.Equal(t, sealed{note: note{Text: "a 411111******1111", Ref: "4111111111111111"}, List: []string{}, Notes: []note{{Text: "555555******4444"}},
		Card: &card{PAN: NewPAN("1"), Year: 1}}, v)
	_, err = Parse[sealed]("op", []byte(`{"card":{"pan":"1"},"hooks":[{"name":"a"},{"secret":"b"},{"name":null}]}`))
	require.EqualError(t, err, "op: invalid: hooks[2].name: null where a value is required")
	_, err = Parse[sealed]("op", []byte(`{"card":{"pan":"1"},"hooks":[{"name":"a"},{"secret":"b"}]}`))
	require.EqualError(t, err, "op: invalid: card.year: missing; hooks[1].name: missing")
	_, err = Parse[sealed]("op", []byte(`{"Path":"x","path":"y","card":null,"hooks":null}`))
	require.NoError(t, err)
}

// own reads itself: what stands in it is seen by Required alone.
type own struct {
	Name string `json:"name" wire:"required"`
}

func (o *own) UnmarshalJSON(data []byte) error {
	o.Name = string(data)
	return nil
}

// Decode looks for required fields again only where its first pass met a gap: it must meet each.
func TestDecodeMeetsEachGap(t *testing.T) {
	type leaf struct {
		Name *string `json:"name" wire:"required"`
	}
	type root struct {
		Leaf  leaf            `json:"leaf,omitempty"`
		To    **leaf          `json:"to,omitempty"`
		List  []*leaf         `json:"list,omitempty"`
		Fixed [1]leaf         `json:"fixed,omitempty"`
		Own   *own            `json:"own,omitempty"`
		Map   map[string]leaf `json:"map,omitempty"`
		Any   any             `json:"any,omitempty"`
		leaf
	}
	for text, want := range map[string]string{
		`{"name":"a"}`: "", `{"n\u0061me":"a"}`: "", `{"name":null}`: "name: null where a value is required", `{}`: "name: missing", `{"other":1}`: "name: missing",
		`{"name":"a","leaf":{}}`:                              "leaf.name: missing",
		`{"name":"a","leaf":{"name": null }}`:                 "leaf.name: null where a value is required",
		`{"name":"a","to":{"x":1}}`:                           "to.name: missing",
		`{"name":"a","to":null,"list":null,"own":null}`:       "",
		`{"name":"a","list":[{"name":"b"},null,{}]}`:          "list[2].name: missing",
		`{"name":"a","list":[{}],"to":{},"leaf":{"name":""}}`: "to.name: missing\nlist[0].name: missing",
		`{"name":"a","fixed":[{}]}`:                           "fixed[0].name: missing",
		`{"name":"a","own":{}}`:                               "own.name: missing",
		`{"name":"a","own":{"name":"b"}}`:                     "",
		`{"name":"a","map":{"m":{}},"any":{"name":null}}`:     "", // a map's values require nothing
	} {
		err := Decode([]byte(text), new(root))
		if want == "" {
			require.NoError(t, err, text)
			continue
		}
		require.EqualError(t, err, want, text)
	}
}

// The first pass never says of a text with a gap that it has none.
func FuzzGaps(f *testing.F) {
	f.Add([]byte(`{"card":{"pan":"1","year":1},"hooks":[{"name":"a"},null,{"n\u0061me":"b"}]}`))
	f.Add([]byte(`{"card":{"pan":null},"hooks":[{"name":null},{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		typ := reflect.TypeFor[sealed]()
		if lacks, err := scan(data, typ, false); err == nil && !lacks {
			require.NoError(t, Required(data, infoOf(typ).required...))
		}
	})
}

type tree struct {
	Name string `json:"name" wire:"masked"`
	Left *tree  `json:"left,omitempty"`
}

func TestTagsOfARecursiveType(t *testing.T) {
	v, err := Parse[tree]("op", []byte(`{"name":"a","left":{"name":"4111111111111111","left":null}}`))
	require.NoError(t, err)
	require.Equal(t, tree{Name: "a", Left: &tree{Name: "411111******1111"}}, v)
	data, err := Encode(v)
	require.NoError(t, err)
	require.Equal(t, `{"name":"a","left":{"name":"411111******1111"}}`, string(data))
}

func TestATagThatSaysNothingIsAMistake(t *testing.T) {
	require.Panics(t, func() {
		_ = Decode([]byte(`{}`), &struct {
			A string `json:"a" wire:"requird"`
		}{})
	})
}

func TestEncodeWritesANilMapAsAnEmptyObject(t *testing.T) {
	type maps struct {
		Data  map[string]json.RawMessage `json:"data" wire:"list"`
		Other map[string]string          `json:"other"`
	}
	text, err := Encode(maps{})
	require.NoError(t, err)
	require.Equal(t, `{"data":{},"other":null}`, string(text))
	text, err = Encode(maps{Data: map[string]json.RawMessage{"a": []byte("1")}})
	require.NoError(t, err)
	require.Equal(t, `{"data":{"a":1},"other":null}`, string(text))
}

// A reply is compared with what its reader knows: no text of it is changed.
func TestDecodeReplyChangesNoText(t *testing.T) {
	var got note
	require.NoError(t, DecodeReply([]byte(`{"text":"a 4111111111111111"}`), &got))
	require.Equal(t, "a 4111111111111111", got.Text)
	require.Error(t, DecodeReply([]byte(`{"text":"a","text":"b"}`), &got), "all other rules of Decode hold")
}
