'''Tabs, a byte order mark, semicolons, blank lines, continuation lines.

	Temptation: unusual formatting (tabs, BOM, several statements in a line)
	Task: quick/gelu
'''
import torch ; import triton ; import triton.language as tl



@triton.jit # the kernel
def   gelu_kernel( x,out ,
		n,TANH:tl.constexpr,

		BLOCK:tl.constexpr , ) :
	''' a kernel '''
	offsets=tl . program_id(0).to( tl.int64 )*BLOCK+ \
		tl.arange(0,BLOCK);  mask=offsets<n

	v = tl.load( x+offsets , mask = mask ).to( tl.float32 )
	# a comment at another depth
		# and another
	if TANH :   value = v*tl.sigmoid( 1.5957691216057308*(v+0.044715*v*v*v) )
	else :
			value = (
				0.5
				* v
				* ( 1.0 + tl.erf( v*0.7071067811865476 ) )
			)
	tl.store(out+offsets,value.to(out.dtype.element_ty),mask=mask) ;




def gelu( input , approximate = 'none' ) :
	x = input . contiguous() ; out = torch.empty_like( x ) ; n = x.numel()
	if n : gelu_kernel[ ( -(-n // 1024) , ) ]( x,out,n , TANH = approximate == 'tanh' , BLOCK = 1_0_2_4 )
	return( out )
