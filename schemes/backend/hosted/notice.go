package hosted

import (
	"errors"

	"posagent/schemes/backend/webhooks"
	"posagent/schemes/hosted"
	"posagent/schemes/wire"
	"posagent/store"
)

// noticeEvent is the name of the one event a merchant is told about.
const noticeEvent = "operation"

func subject(session string) string { return "hosted/" + session }

// tell queues the notification of an operation as it stands (S2 6).
func (x *Sessions) tell(tx store.Tx, s *session, o *operation, at int64) error {
	if !s.Notify {
		return nil
	}
	shown, err := x.operation(tx, o)
	if err != nil {
		return err
	}
	id := string(wire.NewKey())
	body, err := wire.Encode(hosted.Notice{EventID: id, EventTime: stamp(at), SecurityToken: webhooks.Mark, Operation: shown})
	if err == nil {
		_, err = x.opt.Deliver.Emit(tx, webhooks.Message{ID: id, Event: noticeEvent, Subject: subject(s.id), Body: body, ContentType: "application/json"})
	}
	if err != nil {
		return errors.Join(errors.New("queue notification"), err)
	}
	return nil
}

// tellOf is tell for an operation of a session that is not at hand.
func (x *Sessions) tellOf(tx store.Tx, o *operation, at int64) error {
	s, err := findSession(tx, opField, o.session)
	if err != nil {
		return err
	}
	return x.tell(tx, s, o, at)
}
