import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.state.ConnectionState;

/** Writes every few milliseconds for as long as its lock is held: see the type job of the Go package contend. */
final class Job {
    private static final long PAUSE_MILLIS = 2;

    private final CountDownLatch over = new CountDownLatch(1);
    private final List<Long> writes = new ArrayList<>();
    private final long since;
    private long knew;
    private volatile boolean suspended;

    /** Acquires and starts to write. A mutex tells whether it is held; a listener, that this is not known any more. */
    Job(CuratorFramework client, String path, boolean listens) throws Exception {
        InterProcessMutex mutex = new InterProcessMutex(client, path);
        if (listens) {
            client.getConnectionStateListenable().addListener((c, state) ->
                    suspended |= state == ConnectionState.SUSPENDED || state == ConnectionState.LOST);
        }
        mutex.acquire();
        since = System.nanoTime();
        new Thread(() -> run(() -> mutex.isAcquiredInThisProcess() && !suspended)).start();
    }

    private void run(BooleanSupplier held) {
        try {
            for (; held.getAsBoolean(); Thread.sleep(PAUSE_MILLIS)) {
                synchronized (this) {
                    writes.add(System.nanoTime());
                }
            }
        } catch (InterruptedException e) {
            return; // nobody interrupts it
        }
        synchronized (this) {
            knew = System.nanoTime();
        }
        over.countDown();
    }

    String began() {
        return "at=" + since;
    }

    /** Waits for the end of the job, and tells about it. */
    String stopped(Map<String, String> values) throws InterruptedException {
        over.await(Long.parseLong(values.get("limit")), TimeUnit.MILLISECONDS);
        long from = Long.parseLong(values.get("since"));
        synchronized (this) {
            long late = writes.stream().filter(at -> at > from).count();
            return "knew=" + knew + " last=" + (writes.isEmpty() ? 0 : writes.get(writes.size() - 1)) + " late=" + late;
        }
    }
}
