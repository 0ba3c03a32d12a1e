package contracts

import (
	"posagent/schemes/disputes"
	"posagent/schemes/paylinks"
	"posagent/schemes/wire"
	"posagent/schemes/wire/rest"
)

// What follows describes the services that are no table yet, as their tables will.

// describe returns an endpoint's description.
func describe[In, Out any](op, what, method, path string, status int, wants rest.Wants, also ...int) rest.Info {
	return rest.Endpoint[struct{}, In, Out]{Op: op, What: what, Method: method, Path: path, Status: status, Wants: wants, Also: also}.Info()
}

type (
	// account names the account that a payment-link request is for.
	account struct {
		Instance string `query:"instance" json:"-"`
	}
	ofLink struct {
		ID int64 `path:"id" json:"-"`
		account
	}
	creating struct {
		account
		paylinks.CreateRequest
	}
	charging struct {
		ofLink
		paylinks.ChargeRequest
	}
	refunding struct {
		ofLink
		paylinks.RefundRequest
	}
	listing struct {
		account
		After  string `query:"filterDatetimeUtcGreaterThan" json:"-"`
		Before string `query:"filterDatetimeUtcLessThan" json:"-"`
		Offset int32  `query:"offset" json:"-"`
		Limit  int32  `query:"limit" json:"-"`
	}
	// success is the envelope of every answer of payment links.
	success[T any] struct {
		Status    string        `json:"status"`
		Data      []T           `json:"data"`
		Operation *wire.Pending `json:"operation,omitempty"`
	}
	checked struct {
		ID int64 `json:"id"`
	}
	// linkDone is the reduced record of a charge, capture or refund.
	linkDone struct {
		ID     int64           `json:"id"`
		UUID   string          `json:"uuid"`
		Time   string          `json:"time"`
		Status paylinks.Status `json:"status"`
		Lang   string          `json:"lang"`
		PSP    string          `json:"psp"`
	}
)

func linkInfos() []rest.Info {
	return []rest.Info{
		describe[account, success[checked]]("paylinks.check", "are instance and secret right", "GET", "/SignatureCheck", 200, 0),
		describe[creating, success[paylinks.Link]]("paylinks.create", "make a link", "POST", "/Invoice", 200, rest.Write),
		describe[ofLink, success[paylinks.Link]]("paylinks.read", "read a link", "GET", "/Invoice/{id}", 200, 0),
		describe[ofLink, success[checked]]("paylinks.delete", "take a link back", "DELETE", "/Invoice/{id}", 200, rest.Write),
		describe[listing, success[paylinks.Transaction]]("paylinks.list", "list transactions", "GET", "/Transaction", 200, 0),
		describe[ofLink, success[paylinks.Transaction]]("paylinks.transaction", "read a transaction", "GET", "/Transaction/{id}", 200, 0),
		describe[charging, success[linkDone]]("paylinks.charge", "collect", "POST", "/Transaction/{id}", 200, rest.Write|rest.MayBody),
		describe[charging, success[linkDone]]("paylinks.charge", "collect", "POST", "/Transaction/{id}/charge", 200, rest.Write|rest.MayBody),
		describe[ofLink, success[linkDone]]("paylinks.capture", "collect all", "POST", "/Transaction/{id}/capture", 200, rest.Write),
		describe[refunding, success[linkDone]]("paylinks.refund", "give back", "POST", "/Transaction/{id}/refund", 200, rest.Write|rest.MayBody),
		describe[ofLink, success[checked]]("paylinks.cancel", "cancel a reservation", "DELETE", "/Transaction/{id}", 200, rest.Write),
	}
}

type (
	ofCase struct {
		ID string `path:"disputeId" json:"-"`
		disputes.UpdateRequest
	}
	ofDocument struct {
		ID       string `path:"documentId" json:"-"`
		Limit    int64  `query:"sizeLimit" json:"-"`
		Encoding string `query:"encoding" json:"-"`
	}
)

func disputeInfos() []rest.Info {
	return []rest.Info{
		describe[disputes.CreateRequest, disputes.CreateReply]("disputes.create", "dispute a transaction", "POST", "", 200, rest.Write),
		describe[disputes.ListRequest, disputes.ListReply]("disputes.list", "list cases", "POST", "/list", 200, 0),
		describe[disputes.QueueRequest, disputes.QueueReply]("disputes.queue", "list the cases of a queue", "POST", "/list-cases-by-queue", 200, 0),
		describe[struct{}, disputes.PublicKey]("disputes.key", "read what card numbers are encrypted with", "GET", "/key", 200, 0),
		describe[ofDocument, disputes.Download]("disputes.document", "fetch a document", "GET", "/document/{documentId}", 200, 0),
		describe[ofCase, disputes.UpdateReply]("disputes.update", "move a case, and add to it", "PATCH", "/{disputeId}", 200, rest.Write),
	}
}
