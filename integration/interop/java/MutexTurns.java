import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;

/** Takes a mutex. */
final class MutexTurns implements Contest.Turns {
    private final NamedMutex mutex;
    private final List<String> locks;

    MutexTurns(CuratorFramework client, String path) {
        this(client, path, List.of());
    }

    /** Takes a mutex that is one of several locks. */
    MutexTurns(CuratorFramework client, String path, List<String> locks) {
        mutex = new NamedMutex(client, path);
        this.locks = locks;
    }

    @Override
    public void take(Ledger ledger) throws Exception {
        long asked = System.nanoTime();
        if (!mutex.acquire(Ledger.waitLimit(), TimeUnit.MILLISECONDS)) {
            ledger.miss("timeout");
            return;
        }
        try {
            Ledger.Hold hold = ledger.beginOf("mutex", locks, asked, List.of(mutex.path()));
            if (hold != null) {
                hold.linger(Ledger.span());
                hold.end();
            }
        } finally {
            mutex.release();
        }
    }
}
