#include "textflag.h"

// func below()
TEXT ·below(SB), NOSPLIT, $0-0
	MOVL (TLS), AX
	MOVL 0(AX), DI // stack.lo, the first word of a goroutine's record
	MOVL SP, CX
	SUBL $128, CX

next:
	CMPL DI, CX
	JCC  done
	MOVL $0, (DI)
	ADDL $4, DI
	JMP  next

done:
	RET
