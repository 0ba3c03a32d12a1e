package paylinks

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"posagent/schemes/wire"
	"posagent/schemes/wire/bracket"
	"posagent/schemes/wire/check"
)

// reader takes values out of a form's object.
type reader struct {
	check.List
	form  *bracket.Object
	files []*bracket.File
}

func (r *reader) text(name string) string { return r.leaf(name, r.form.Get(name)) }

func (r *reader) leaf(path string, v any) string {
	switch v := v.(type) {
	case string:
		return v
	case *bracket.Object:
		r.Add(path, "a list or object where a text is wanted")
	}
	return ""
}

func (r *reader) need(name string) string {
	if r.form.Get(name) == nil {
		r.Add(name, "missing")
	}
	return r.text(name)
}

func (r *reader) flag(path string, v any) bool {
	switch strings.ToLower(r.leaf(path, v)) {
	case "1", "true":
		return true
	case "", "0", "false":
		return false
	}
	r.Add(path, "want 1 or 0")
	return false
}

// number reads an int32 that is not negative; "" is 0.
func (r *reader) number(path string, v any) int64 {
	text := r.leaf(path, v)
	if text == "" {
		return 0
	}
	n, ok := digits(text)
	if !ok {
		r.Add(path, "want a whole number below 2^31")
	}
	return n
}

// optional reads a number that may be absent, which means all: an empty one is refused, as of a caller whose variable was not set.
func (r *reader) optional(name string) *int64 {
	v := r.form.Get(name)
	if v == nil {
		return nil
	}
	if r.given(name); v == "" {
		return nil
	}
	n := r.number(name, v)
	return &n
}

// valued are the parameters whose absence means all that there is, or decides how money moves.
func valued() []string {
	return []string{"amount", "preAuthorization", "reservation", "subscriptionState", "expirationDate"}
}

// unread refuses a parameter of valued that is not read where it stands, in the address of a write, or as it is spelled: absent, it means
// all that there is, and a caller who sent it has not left it out.
func unread(query, body bracket.Form) error {
	refused := func(name, why string) error {
		return &wire.FieldError{Path: name, Reason: why, Code: wire.Invalid}
	}
	for _, name := range valued() {
		for _, p := range body {
			if sent, _, _ := strings.Cut(p.Name, "["); sent != name && wire.SameName(sent, name) {
				return refused(name, "differs in its letters' case, or has blanks (write it so)")
			}
		}
		for _, p := range query {
			if sent, _, _ := strings.Cut(p.Name, "["); wire.SameName(sent, name) && body.Values(name) == nil {
				return refused(name, "stands in the address, where it is not read (put it into the body)")
			}
		}
	}
	return nil
}

// formless refuses what is called a form and is none: JSON that is called so (curl -d alone calls it so), a form that was encoded twice or
// begins with a mark of its byte order, or another text. As a form it has names that nobody reads, and so no amount, which means all.
func formless(body bracket.Form) error {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) }
	for _, p := range body {
		name, _, _ := strings.Cut(p.Name, "[")
		if strings.ContainsAny(name, "{}\"<=") || p.Value == "" && strings.Contains(name, ":") || strings.ContainsFunc(name, hidden) {
			return &wire.FieldError{Reason: "no form, name=value&... (JSON needs Content-Type: application/json)", Code: wire.Invalid}
		}
	}
	return nil
}

// whole refuses an amount of a call that takes a transaction whole: its caller wants a part of it.
func whole(op string, sent bracket.Form) error {
	if op != opCapture && op != opCancel {
		return nil
	}
	for _, p := range sent {
		if name, _, _ := strings.Cut(p.Name, "["); wire.SameName(name, "amount") {
			return &wire.FieldError{Path: "amount", Reason: "this call takes the whole transaction (leave it out; charge collects a part)", Code: wire.Invalid}
		}
	}
	return nil
}

// given refuses an empty text of a parameter whose absence means all or a default.
func (r *reader) given(name string) {
	if v, sent := r.form.Get(name).(string); sent && v == "" {
		r.Add(name, "empty (leave it out, or give a value)")
	}
}

// indexed returns an indexed list. What is not one, and name[], is passed over as the real service does.
func indexed(v any) []bracket.Field {
	o, ok := v.(*bracket.Object)
	if !ok || o.Auto {
		return nil
	}
	return o.Fields
}

// spaced writes the spaces of an address as an address has them: shops put their own names into it.
func spaced(address string) string {
	return strings.ReplaceAll(strings.TrimSpace(address), " ", "%20")
}

// read takes a create request out of a form, with its files. Check says whether it is good. Card numbers in texts for people are
// masked.
func (req *CreateRequest) read(r *reader) {
	form := r.form
	for _, name := range valued() {
		r.given(name)
	}
	*req = CreateRequest{
		Title: r.need("title"), Description: r.need("description"), ReferenceID: r.need("referenceId"),
		Currency: r.need("currency"), VatRate: Percent(r.text("vatRate")), SKU: r.text("sku"), Name: r.text("name"),
		PreAuthorization: r.flag("preAuthorization", form.Get("preAuthorization")), Reservation: r.flag("reservation", form.Get("reservation")),
		HideFields: r.flag("hideFields", form.Get("hideFields")), ButtonText: r.text("buttonText"), ExpirationDate: r.text("expirationDate"),
		SuccessRedirectURL: spaced(r.text("successRedirectUrl")), FailedRedirectURL: spaced(r.text("failedRedirectUrl")),
		SubscriptionState:    r.flag("subscriptionState", form.Get("subscriptionState")),
		SubscriptionInterval: r.text("subscriptionInterval"), SubscriptionPeriod: r.text("subscriptionPeriod"),
		SubscriptionCancellationInterval: r.text("subscriptionCancellationInterval"),
		SubscriptionPeriodMinAmount:      r.number("subscriptionPeriodMinAmount", form.Get("subscriptionPeriodMinAmount")),
	}
	r.purpose(req)
	if r.need("amount") != "" {
		req.Amount = r.number("amount", form.Get("amount"))
	}
	switch v := form.Get("psp").(type) {
	case string:
		if n := r.number("psp", v); n != 0 {
			req.PSP = []int64{n}
		}
	default:
		for _, f := range indexed(v) {
			req.PSP = append(req.PSP, r.number("psp["+f.Name+"]", f.Value))
		}
	}
	for _, f := range indexed(form.Get("pm")) {
		req.PM = append(req.PM, r.leaf("pm", f.Value))
	}
	for _, f := range form.Fields {
		if strings.HasSuffix(f.Name, "OrderId") { // the operator's own word stands before it
			req.ProviderOrderID = r.leaf("providerOrderId", f.Value)
		}
	}
	if o, ok := form.Get("fields").(*bracket.Object); ok {
		r.contacts(req, o)
	} else if s := r.text("fields"); s != "" && s != "[]" {
		r.Add("fields", "want an object")
	}
	if form.Get("attachments") != nil && form.Get("attachments") != "" {
		r.Add("attachments", "want multipart/form-data")
	}
	for _, f := range r.files {
		if name, _, _ := strings.Cut(f.Field, "["); name == "attachments" {
			req.Attachments = append(req.Attachments, Attachment{Name: f.Name, ContentType: f.ContentType, Size: f.Size, SHA256: f.SHA256, Open: f.Open})
		}
	}
	for _, s := range [...]*string{&req.Title, &req.Description, &req.Purpose, &req.Name, &req.ButtonText} {
		*s = wire.MaskPANs(*s)
	}
}

// read takes a charge out of a form.
func (req *ChargeRequest) read(r *reader) {
	*req = ChargeRequest{Amount: r.optional("amount"), Purpose: wire.MaskPANs(r.text("purpose")), ReferenceID: r.text("referenceId")}
}

// read takes a refund out of a form.
func (req *RefundRequest) read(r *reader) { req.Amount = r.optional("amount") }

// purpose is a text, or one per language: then the first.
func (r *reader) purpose(req *CreateRequest) {
	v := r.form.Get("purpose")
	if o, ok := v.(*bracket.Object); ok && len(o.Fields) > 0 {
		v = o.Fields[0].Value
	}
	if v == nil {
		r.Add("purpose", "missing")
	}
	req.Purpose = r.leaf("purpose", v)
}

func (r *reader) contacts(req *CreateRequest, fields *bracket.Object) {
	for _, f := range fields.Fields {
		o, ok := f.Value.(*bracket.Object)
		if !ok || !slices.Contains(fieldNames[:], f.Name) {
			continue // unknown fields are ignored, like every unknown name
		}
		at := "fields[" + f.Name + "]"
		c := Contact{Mandatory: r.flag(at+"[mandatory]", o.Get("mandatory")), DefaultValue: r.leaf(at+"[defaultValue]", o.Get("defaultValue"))}
		if v := o.Get("active"); v != nil {
			active := r.flag(at+"[active]", v)
			c.Active = &active
		}
		if custom(f.Name) {
			c.Names = r.names(at, o)
		}
		if req.Fields == nil {
			req.Fields = map[string]Contact{}
		}
		req.Fields[f.Name] = c
	}
}

// names reads a custom field's name: one text for all languages, or one per language, by code or by 1 to 4.
func (r *reader) names(at string, field *bracket.Object) *Names {
	v := field.Get("names")
	if v == nil {
		v = field.Get("name")
	}
	o, ok := v.(*bracket.Object)
	if !ok {
		if s := r.leaf(at+"[name]", v); s != "" {
			return &Names{s, s, s, s}
		}
		return nil
	}
	n := new(Names)
	for i, lang := range languages {
		v := o.Get(lang)
		if v == nil {
			v = o.Get(strconv.Itoa(i + 1))
		}
		*n.at(i) = r.leaf(at+"[names]", v)
	}
	return n
}

const (
	afterParam  = "filterDatetimeUtcGreaterThan"
	beforeParam = "filterDatetimeUtcLessThan"
)

// read takes a filter out of a query.
func (f *Filter) read(r *reader) {
	*f = Filter{
		After: r.moment(afterParam), Before: r.moment(beforeParam),
		Offset: r.number("offset", r.form.Get("offset")), Limit: r.number("limit", r.form.Get("limit")),
	}
}

func (r *reader) moment(name string) time.Time {
	text := r.text(name)
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(TimeLayout, text)
	if err != nil || len(text) != len(TimeLayout) {
		r.Add(name, "want YYYY-MM-DD HH:MM:SS")
	}
	return at
}

// form writes a filter.
func (f Filter) form() *bracket.Object {
	o := new(bracket.Object)
	moment := func(name string, at time.Time) {
		if !at.IsZero() {
			o.Add(name, at.UTC().Format(TimeLayout))
		}
	}
	number := func(name string, n int64) {
		if n != 0 {
			o.Add(name, n)
		}
	}
	moment(afterParam, f.After)
	moment(beforeParam, f.Before)
	number("offset", f.Offset)
	number("limit", f.Limit)
	return o
}

// form writes a create request in the order of the specification's table, without its attachments.
func (req CreateRequest) form() *bracket.Object {
	o := new(bracket.Object)
	opt := func(name, text string) {
		if text != "" {
			o.Add(name, text)
		}
	}
	flag := func(name string, v bool) {
		if v {
			o.Add(name, v)
		}
	}
	o.Add("title", req.Title).Add("description", req.Description).Add("referenceId", req.ReferenceID).Add("purpose", req.Purpose).Add("amount", req.Amount)
	opt("vatRate", string(req.VatRate))
	o.Add("currency", req.Currency)
	items := make([]any, 0, len(req.PSP)+len(req.PM))
	for _, n := range req.PSP {
		items = append(items, n)
	}
	for _, s := range req.PM {
		items = append(items, s)
	}
	o.Add("psp", items[:len(req.PSP)]).Add("pm", items[len(req.PSP):])
	opt("sku", req.SKU)
	flag("preAuthorization", req.PreAuthorization)
	flag("reservation", req.Reservation)
	opt("name", req.Name)
	fields := new(bracket.Object)
	for _, name := range fieldNames {
		if c, ok := req.Fields[name]; ok {
			fields.Add(name, c.form())
		}
	}
	o.Add("fields", fields)
	flag("hideFields", req.HideFields)
	opt("providerOrderId", req.ProviderOrderID)
	opt("buttonText", req.ButtonText)
	opt("expirationDate", req.ExpirationDate)
	opt("successRedirectUrl", req.SuccessRedirectURL)
	opt("failedRedirectUrl", req.FailedRedirectURL)
	flag("subscriptionState", req.SubscriptionState)
	opt("subscriptionInterval", req.SubscriptionInterval)
	opt("subscriptionPeriod", req.SubscriptionPeriod)
	if req.SubscriptionPeriodMinAmount != 0 {
		o.Add("subscriptionPeriodMinAmount", req.SubscriptionPeriodMinAmount)
	}
	opt("subscriptionCancellationInterval", req.SubscriptionCancellationInterval)
	return o
}

// form writes a charge.
func (req ChargeRequest) form() *bracket.Object {
	o := amountForm(req.Amount)
	if req.Purpose != "" {
		o.Add("purpose", req.Purpose)
	}
	if req.ReferenceID != "" {
		o.Add("referenceId", req.ReferenceID)
	}
	return o
}

// form writes a refund.
func (req RefundRequest) form() *bracket.Object { return amountForm(req.Amount) }

func amountForm(amount *int64) *bracket.Object {
	o := new(bracket.Object)
	if amount != nil {
		o.Add("amount", *amount)
	}
	return o
}

func (c Contact) form() *bracket.Object {
	o := new(bracket.Object)
	if c.Active != nil {
		o.Add("active", *c.Active)
	}
	o.Add("mandatory", c.Mandatory)
	if c.DefaultValue != "" {
		o.Add("defaultValue", c.DefaultValue)
	}
	if c.Names != nil {
		names := new(bracket.Object)
		for i, lang := range languages {
			names.Add(lang, *c.Names.at(i))
		}
		o.Add("names", names)
	}
	return o
}
