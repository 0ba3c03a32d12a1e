package onboarding

import "encoding/json"

// Encode writes an application with everything in it: the one way the secrets of its webhooks leave. Keep what it
// returns out of logs, and sealed on a disk.
func Encode(app Application) ([]byte, error) {
	type hook struct {
		WebHook
		Authorization string `json:"authorization,omitempty"`
	}
	type hooks struct {
		WebHooks []hook `json:"webHooks,omitempty"`
	}
	body := struct {
		Application
		Notifications *hooks `json:"notifications,omitempty"`
	}{Application: app}
	if n := app.Notifications; n != nil {
		body.Notifications = &hooks{}
		for _, h := range n.WebHooks {
			body.Notifications.WebHooks = append(body.Notifications.WebHooks, hook{h, h.Authorization.Reveal()})
		}
	}
	return json.Marshal(body)
}
