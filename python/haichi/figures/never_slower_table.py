"""The named access patterns of `haichi figures never-slower`: a name and its words, which may go
on in a line that begins with blanks.

Words with `op` are for bench/patterns/comm_pattern.c, the others for io_pattern.c. Amounts are what
one machine bears; `never_slower_draw.bounded` makes less of them for a network of 100 Mbit/s.
"""

from __future__ import annotations

TEXT = """
ior-easy-segmented      call=at_all shape=segmented view=no piece=1048576 calls=8
ior-easy-independent    call=at shape=segmented view=no piece=1048576 calls=8
ior-easy-file-per-rank  call=individual comm=self shape=segmented piece=1048576 calls=8
ior-easy-reordered      call=at_all shape=segmented view=no piece=1048576 calls=4 reader=next
ior-easy-views          call=all shape=segmented piece=1048576 calls=8
ior-easy-4m             call=at_all shape=segmented view=no piece=4194304 calls=3
ior-easy-nonblocking    call=iat_all shape=segmented view=no piece=1048576 calls=8 depth=4
ior-hard                call=at_all shape=strided view=no piece=47008 calls=60
ior-hard-independent    call=at shape=strided view=no piece=47008 calls=60
ior-hard-views          call=all shape=strided piece=47008 calls=60
ior-hard-reordered      call=at_all shape=strided view=no piece=47008 calls=40 reader=next
ior-random-4k           call=at_all shape=irregular piece=4096 pieces=64 calls=4
ior-sync                call=at_all shape=segmented view=no piece=262144 calls=8 sync=yes
mdtest-create           call=at shape=segmented view=no comm=self piece=3901 opens=30
mdtest-shared-small     call=at_all shape=segmented view=no piece=4096 opens=30
mdtest-empty            call=at_all shape=one view=no piece=8 opens=30
small-files-views       call=all shape=strided piece=64 pieces=16 opens=30
open-close-small        call=all shape=segmented piece=65536 opens=20
bytes-64                call=at_all shape=segmented view=no piece=64 calls=50
bytes-64-1000           call=at_all shape=segmented view=no piece=64 calls=1000
bytes-64-view           call=all shape=strided piece=64 calls=200
bytes-64-nonblocking    call=iat_all shape=segmented view=no piece=64 calls=50
bytes-64-one-call       call=at_all shape=segmented view=no piece=64
bytes-8-rows            call=at_all shape=strided view=no piece=8 calls=500
contiguous-4k           call=all shape=segmented piece=4096 calls=20
contiguous-4k-once      call=at_all shape=segmented view=no piece=4096
contiguous-64k          call=at_all shape=segmented view=no piece=65536 calls=20
contiguous-256k         call=all shape=segmented piece=262144 calls=8
contiguous-16m          call=at_all shape=segmented view=no piece=16777216
particles               call=at_all shape=unequal view=no piece=4096 pieces=40
particles-calls         call=at_all shape=unequal view=no piece=1000 pieces=8 calls=7
particles-arrays        call=all shape=unequal views=each piece=8 pieces=20000 calls=6
particles-memory        call=at_all shape=unequal view=no piece=8 pieces=20000 memory=strided
particles-ordered       call=ordered shape=unequal view=no piece=100 pieces=200 calls=4
checkpoint-unequal      call=all shape=unequal piece=65536 pieces=8 calls=3
checkpoint-tiny         call=at_all shape=unequal view=no piece=16 pieces=4 calls=20
one-rank-contiguous     call=at_all shape=one view=no piece=65536 pieces=16
one-rank-strided        call=all shape=one-strided piece=4096 pieces=250
one-rank-small-pieces   call=all shape=one-strided piece=64 pieces=4000
quarter-strided         call=all shape=quarter piece=1000 pieces=250
quarter-strided-calls   call=all shape=quarter piece=1000 pieces=60 calls=12
header-cells            call=all shape=header header=4096 far=65536 piece=40 pieces=5000
header-cells-far        call=all shape=header header=512 far=9999998976 piece=1024 pieces=100
header-far-cb           call=all shape=header header=512 far=9999998976 piece=1024 pieces=100
                        hints=romio_cb_write:enable
header-far-cb-nodes     call=split shape=header views=each header=365 far=662905741 piece=512
                        gap=5124 calls=60 hints=cb_nodes:1
header-cells-far-small  call=at_all shape=header views=each header=743 far=3808557582 piece=164
                        gap=683 pieces=394 opens=10
far-apart               call=at_all shape=far view=no far=1073741824 piece=65536 calls=5
far-apart-view          call=all shape=far far=1073741824 piece=1000 pieces=50 calls=5
sparse-pieces           call=all shape=strided piece=64 gap=1048576 pieces=300
sparse-irregular        call=all shape=irregular piece=64 gap=1048576 pieces=300
sparse-calls            call=at_all shape=strided piece=512 gap=262144 pieces=40 calls=10
btio-cells              call=at_all shape=block array=64x64x64 piece=40
btio-steps              call=at_all shape=block array=32x32x32 piece=40 calls=5
btio-small              call=at_all shape=block array=12x12x12 piece=40 calls=40
s3d                     call=all shape=block type=darray views=each array=40x40x40 piece=8
                        unknowns=11,3,1,1 calls=4
s3d-nonblocking         call=iall shape=block type=darray views=each array=32x32x32 piece=8
                        unknowns=11,3,1,1 calls=4
flash                   call=at_all shape=segmented views=each piece=8 pieces=20480 calls=24
                        memory=strided
flash-plot              call=at_all shape=segmented views=each piece=4 pieces=20480 calls=4
                        memory=strided memory-piece=4
wrf-records             call=iat_all shape=block views=each array=30x50x40 piece=4 calls=15
wrf-records-depth       call=iat_all shape=segmented view=no piece=60000 calls=20 depth=10
wrf-surface             call=all shape=block views=each array=120x100 piece=4 calls=30
array-3d                call=all shape=block array=128x128x128 piece=8
array-3d-memory         call=all shape=block array=96x96x96 piece=8 memory=strided memory-piece=64
array-2d                call=all shape=block array=1024x1024 piece=4
columns                 call=all shape=columns array=1000x800 piece=8
columns-split           call=split shape=columns array=1000x800 piece=8
fft-rows                call=all shape=rows array=64x64x64 piece=16
matrix-columns-f32      call=iall shape=columns array=2048x512 piece=4
h5py-rows               call=at_all shape=strided views=each piece=8 calls=300
h5py-rows-independent   call=at shape=strided view=no piece=8 calls=500
h5py-chunks             call=at_all shape=block views=each array=64x64 piece=8 calls=60
few-pieces              call=all shape=strided piece=64 pieces=4 calls=100
few-pieces-irregular    call=all shape=irregular views=each piece=512 calls=300
strided-8               call=all shape=strided piece=8 pieces=60000
strided-64              call=all shape=strided piece=64 pieces=20000
strided-512-gaps        call=all shape=strided piece=512 gap=512 pieces=3000
strided-4k              call=at_all shape=strided piece=4096 pieces=500
strided-64k             call=all shape=strided piece=65536 pieces=40
strided-independent     call=at shape=strided piece=2048 pieces=200
small-nonblocking       call=iat_all shape=strided piece=64 pieces=5000
small-nonblocking-depth call=iat_all shape=strided piece=128 pieces=500 calls=8 depth=4
irregular-200k          call=all shape=irregular piece=16 pieces=50000
irregular-sparse        call=all shape=irregular piece=64 gap=4096 pieces=2000
memory-irregular        call=at_all shape=segmented view=no piece=3200000 memory=irregular
memory-irregular-calls  call=at_all shape=segmented view=no piece=160000 memory=irregular calls=10
buffer-64m              call=all shape=strided piece=4000 pieces=10 hints=cb_buffer_size:67108864
buffer-small            call=all shape=strided piece=1024 pieces=1000 hints=cb_buffer_size:65536
cb-enable-contiguous    call=all shape=segmented piece=262144 calls=4 hints=romio_cb_write:enable
cb-disable-strided      call=all shape=strided piece=8192 pieces=100 hints=romio_cb_write:disable
atomic                  call=at_all shape=segmented view=no piece=16384 calls=10 atomic=yes
split-small             call=at_split shape=segmented view=no piece=512 calls=40
pingpong-8              op=pingpong size=8 calls=2000
pingpong-64k            op=pingpong size=65536 calls=300
allreduce-8             op=allreduce size=8 calls=1000
allreduce-64k           op=allreduce size=65536 calls=100
bcast-1m                op=bcast size=1048576 calls=10
barrier                 op=barrier calls=1000
start-and-end           op=none
alltoall-short-5        op=alltoall size=4096 calls=5
alltoall-short-20       op=alltoall size=65536 calls=20
alltoall-short-40       op=alltoall size=16384 calls=40
alltoall-long           op=alltoall size=8192 calls=300
alltoall-tiny-long      op=alltoall size=8 calls=1000
alltoall-1m             op=alltoall size=1048576 calls=10
alltoallv-short         op=alltoallv size=32768 calls=20
alltoallv-long          op=alltoallv size=4096 calls=300
ialltoall-short         op=ialltoall size=16384 calls=20
allgather-short         op=allgather size=16384 calls=20
allgather-long          op=allgather size=1024 calls=300
allgatherv-short        op=allgatherv size=16384 calls=20
halo-short              op=halo size=16384 calls=20
halo-long               op=halo size=8192 calls=300
halo-messages           op=sendrecv size=8192 calls=200
hpcc-fft                op=fft size=65536 calls=20
hpcc-random-access      op=alltoall size=512 calls=300
communicators           op=alltoall size=1024 calls=2 comms=20
"""
