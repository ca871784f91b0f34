import java.io.RandomAccessFile;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The counters that all processes have in memory: see the type Slots of the Go package contend. */
final class Slots {
    private static final int SLOT_BYTES = 64;
    private static final long WRITER = 1L << 32;
    private static final VarHandle COUNTER =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    final AtomicLong violations = new AtomicLong();
    private final ByteBuffer memory;

    Slots(String name) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(name, "rw")) {
            memory = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, file.length());
        }
    }

    void hold(int slot, String kind, int dwellMicros) {
        long amount = kind.equals("write") ? WRITER : 1;
        long now = (long) COUNTER.getAndAdd(memory, slot * SLOT_BYTES, amount) + amount;
        if (!allowed(kind, now)) {
            violations.incrementAndGet();
        }
        if (dwellMicros > 0) {
            LockSupport.parkNanos(1000L * dwellMicros);
        }
        COUNTER.getAndAdd(memory, slot * SLOT_BYTES, -amount);
    }

    private static boolean allowed(String kind, long now) {
        switch (kind) {
            case "semaphore":
                return now <= Contender.PERMITS;
            case "read":
                return now < WRITER;
            case "write":
                return now == WRITER;
            default:
                return now == 1;
        }
    }
}
