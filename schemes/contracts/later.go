package contracts

import (
	"posagent/schemes/disputes"
	"posagent/schemes/wire/rest"
)

// What follows describes the services that are no table yet, as their tables will.

// describe returns an endpoint's description.
func describe[In, Out any](op, what, method, path string, status int, wants rest.Wants, also ...int) rest.Info {
	return rest.Endpoint[struct{}, In, Out]{Op: op, What: what, Method: method, Path: path, Status: status, Wants: wants, Also: also}.Info()
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
