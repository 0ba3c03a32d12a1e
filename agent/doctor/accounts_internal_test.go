package doctor

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"posagent/agent/doctor/exam"
)

// TestRefusedCredentialsAreNamedByTheirKey: a service that refuses is named with the keys to correct, and what else a service answers
// fails no check of credentials.
func TestRefusedCredentialsAreNamedByTheirKey(t *testing.T) {
	f := well(t)
	f.Place.Config = "/c.toml"
	examine := func(list ...Account) Finding {
		f.Accounts = func(context.Context) []Account { return list }
		check, ok := Find("PA-UPS-009")
		require.True(t, ok)
		return check.Look(t.Context(), f)
	}
	away := Account{"payments", Answer{Host: "pay.example", Cause: "stall"}}
	link := Account{"paylinks", Answer{Host: "pay.example", Cause: "credentials", Detail: "reply 403", Keys: "secret or instance"}}
	hosted := Account{"hosted", Answer{Host: "pay.example", Cause: "credentials", Detail: "reply 401", Keys: "api_key"}}
	require.Equal(t, exam.Skip, examine().Status)
	require.Equal(t, exam.Pass, examine(away).Status)
	one := examine(away, link)
	require.Equal(t, exam.Fail, one.Status)
	require.Equal(t, "paylinks: pay.example refuses the credentials, reply 403", one.Saw[1])
	require.Equal(t, "correct [upstream.auth] secret or instance in /c.toml, then start posagent again", one.Do)
	both := examine(link, hosted)
	require.Contains(t, both.Saw[1], "; hosted: ")
	require.Contains(t, both.Do, "[upstream.auth] api_key in /c.toml")
}

// TestATypedQuestionHasTheSchemeOfTheAddress: a backend of http is not asked by hand over https.
func TestATypedQuestionHasTheSchemeOfTheAddress(t *testing.T) {
	for address, want := range map[string]string{"http://127.0.0.1:8481": "curl -sv http://127.0.0.1:8481/", "https://pay.example/v1": "curl -sv https://pay.example/"} {
		f := well(t)
		f.Config.Backend = address
		require.Equal(t, want, f.Fill(askByHand))
	}
	require.Equal(t, "correct [upstream.auth] bearer in the configuration, then start posagent again", well(t).said(Answer{Cause: "credentials", Keys: "bearer"}.Trouble()).Do)
	require.Contains(t, well(t).said(Answer{Cause: "stall", Host: "127.0.0.1:8481"}.Trouble()).Do, "curl -sv http://127.0.0.1:8481/")
	require.Contains(t, well(t).said(Answer{Cause: "stall", Host: "pay.example", TLS: true}.Trouble()).Do, "curl -sv https://pay.example/")
}
