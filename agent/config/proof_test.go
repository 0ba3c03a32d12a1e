package config

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each service is asked with credentials of its own kind (S0 5, S1 5, S2 5); one that is set alone serves those that have none.
// The kind: the seven services, each with all kinds set, with each kind alone, and with a section of its own.
func TestField2_S1WhatAServiceIsAskedWith(t *testing.T) {
	const (
		bearer   = "bearer = \"b\"\n"
		consumer = "consumer_key = \"k\"\nconsumer_secret = \"s\"\n"
		client   = "client_id = \"i\"\nclient_secret = \"c\"\n"
		links    = "instance = \"shop\"\nsecret = \"l\"\n"
		key      = "api_key = \"a\"\n"
	)
	auths := map[string]Auth{
		"": {}, KindBearer: {Bearer: "b"}, KindConsumer: {ConsumerKey: "k", ConsumerSecret: "s"}, KindClient: {ClientID: "i", ClientSecret: "c"},
		KindAccount: {Instance: "shop", Secret: "l"}, KindKey: {APIKey: "a"},
	}
	for _, row := range []struct {
		name, set                                                      string
		methods, schemes, payments, tokens, disputes, paylinks, hosted string
	}{
		{"all", bearer + consumer + client + links + key, KindConsumer, KindConsumer, KindBearer, KindBearer, KindBearer, KindAccount, KindKey},
		{"bearer alone", bearer, KindBearer, KindBearer, KindBearer, KindBearer, KindBearer, "", ""},
		{"consumer alone", consumer, KindConsumer, KindConsumer, KindConsumer, KindConsumer, KindConsumer, "", ""},
		{"client alone", client, KindClient, KindClient, KindClient, KindClient, KindClient, "", ""},
		{"consumer and client", consumer + client, KindConsumer, KindConsumer, KindClient, KindClient, KindClient, "", ""},
		{"links alone", links, "", "", "", "", "", KindAccount, ""},
		{"none", "", "", "", "", "", "", "", ""},
		{"own section", bearer + "[upstream.auth.disputes]\n" + client + "[upstream.auth.hosted]\n" + key, KindBearer, KindBearer, KindBearer, KindBearer, KindClient, "", KindKey},
		{"own section alone", "[upstream.auth.schemes]\n" + bearer, "", KindBearer, "", "", "", "", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			c, err := Load(write(t, "config.toml", "[terminal]\nbax_id=\"1\"\nterminal_id=\"1\"\nmerchant_id=\"1\"\n[upstream]\nbase = \"https://pay.example\"\n[upstream.auth]\n"+row.set, 0o600), nil)
			require.NoError(t, err)
			for service, want := range map[string]string{
				"methods": row.methods, "schemes": row.schemes, "payments": row.payments, "tokens": row.tokens,
				"disputes": row.disputes, "paylinks": row.paylinks, "hosted": row.hosted,
			} {
				p := c.Upstream.Proof(service)
				require.Equal(t, want, p.Kind, service)
				require.Equal(t, auths[want], p.Auth, "%s is shown what it is asked with, and nothing else", service)
				kinds, own := Kinds(service)
				require.Equal(t, want != "" && !slices.Contains(kinds[:own], want), p.Substitute, service)
			}
		})
	}

	c, err := Load(write(t, "config.toml", "[terminal]\nbax_id=\"1\"\nterminal_id=\"1\"\nmerchant_id=\"1\"\n[upstream]\nbase = \"https://pay.example\"\n[upstream.auth]\n"+
		bearer+"[upstream.auth.schemes]\n"+consumer, 0o600), nil)
	require.NoError(t, err)
	require.Equal(t, "schemes.consumer_secret or schemes.consumer_key", c.Upstream.Proof("schemes").Keys(), "a remedy names the section")
	require.Equal(t, "bearer", c.Upstream.Proof("methods").Keys())

	for set, want := range map[string]string{
		"[upstream.auth.schemes]\nconsumer_key = \"k\"\n": "upstream.auth.schemes.consumer_key: needs consumer_secret",
		"[upstream.auth.tokens]\nclient_id = \"k\"\n":     "upstream.auth.tokens.client_id: needs client_secret",
		"[upstream.auth.hosted]\nbearer = \"k\"\n":        "upstream.auth.hosted.bearer: unknown key",
		"[upstream.auth.shop]\nbearer = \"k\"\n":          "unknown section",
	} {
		_, err := Load(write(t, "config.toml", set, 0o600), nil)
		require.ErrorContains(t, err, want)
	}
}

// The country that initialize says is the setting's, else the language's where it names one.
func TestField2_S7CountryOfTheShop(t *testing.T) {
	for _, c := range []struct{ country, language, want string }{
		{"", "de", ""}, {"", "de-CH", "CH"}, {"AT", "de-CH", "AT"}, {"SE", "sv", "SE"}, {"", "zh-Hant", ""}, {"", "de-at", "AT"},
	} {
		require.Equal(t, c.want, Terminal{Country: c.country, Language: c.language}.CountryOf(), "%+v", c)
	}
	_, err := Load(write(t, "config.toml", "[terminal]\ncountry = \"Germany\"\n", 0o600), nil)
	require.ErrorContains(t, err, `terminal.country: "Germany" is not a country code like DE`)
}
