package demo

import (
	"context"
	"errors"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"
)

// built is what a build, or its end, is answered with.
type built struct {
	SessionID string `json:"sessionId"`
	State     string `json:"state"`
	Fields    []struct {
		ID  string `json:"id"`
		Src string `json:"src"`
	} `json:"fields"`
	Operation struct {
		OperationResult string `json:"operationResult"`
		OperationAmount string `json:"operationAmount"`
	} `json:"operation"`
}

// typed is what the customer types into the frames of a shop's page.
var typed = map[string]string{
	"CARD_NUMBER": testCard, "EXPIRATION_DATE": "12/30", "SECURITY_CODE": "123", "CARDHOLDER_NAME": "Ada Example", "CARDHOLDER_EMAIL": "ada@example.org",
}

// hostedBuild: a web shop's payment page, whose card fields are the backend's own frames.
func (s *story) hostedBuild(ctx context.Context) error {
	s.chapter("A hosted build payment: the card goes past the shop")
	var b built
	err := s.asks(ctx, 200, &b, "POST", "/api/v1/orders/build", `{"merchantUrl":"https://shop.example","order":{"orderId":"web-1","amount":"3545","currency":"EUR"},`+
		`"paymentSession":{"actionType":"PAY","amount":"3545","captureType":"IMPLICIT","language":"eng","paymentService":"CARDS","resultUrl":"https://shop.example/result","cancelUrl":"https://shop.example/cancel"}}`)
	if err != nil {
		return err
	}
	if len(b.Fields) == 0 {
		return errors.New("the build has no fields")
	}
	var frames []string
	for _, f := range b.Fields {
		text, known := typed[f.ID]
		if !known {
			continue
		}
		if err := s.typeInto(ctx, f.Src, text); err != nil {
			return fmt.Errorf("%s: %w", f.ID, err)
		}
		frames = append(frames, strings.ToLower(strings.ReplaceAll(f.ID, "_", " ")))
	}
	s.say("customer  │ types into the frames of the page: %s", strings.Join(frames, ", "))
	var end built
	if err := s.asks(ctx, 200, &end, "POST", "/api/v1/build/finalize_payment", `{"sessionId":"`+b.SessionID+`"}`); err != nil {
		return err
	}
	if end.State != "PAYMENT_COMPLETE" || end.Operation.OperationResult != "EXECUTED" || end.Operation.OperationAmount != "3545" {
		return fmt.Errorf("the build ended as %+v", end)
	}
	s.say("shop      │ %s, %s", end.State, end.Operation.OperationResult)
	return nil
}

var frameToken = regexp.MustCompile(`data-token="([^"]*)"`)

// typeInto is the customer's browser at one frame: it opens the page and sends what was typed back where it came from.
func (s *story) typeInto(ctx context.Context, src, text string) error {
	page, err := s.browse(ctx, http.MethodGet, src, nil)
	if err != nil {
		return err
	}
	m := frameToken.FindStringSubmatch(page)
	if m == nil {
		return fmt.Errorf("no field at %s", src)
	}
	said, err := s.browse(ctx, http.MethodPost, src, url.Values{"token": {html.UnescapeString(m[1])}, "value": {text}})
	if err == nil && strings.Contains(said, "errorCode") {
		err = errors.New(said)
	}
	return err
}

// browse asks for a page, or sends a form from the page itself.
func (s *story) browse(ctx context.Context, method, address string, form url.Values) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, s.slow())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, method, address, strings.NewReader(form.Encode()))
	if err != nil {
		return "", err
	}
	if form != nil {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", req.URL.Scheme+"://"+req.URL.Host)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, body)
	}
	return string(body), err
}
