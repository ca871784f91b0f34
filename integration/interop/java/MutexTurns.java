import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;

/** Takes a mutex. */
final class MutexTurns implements Contest.Turns {
    private final String path;
    private final NamedMutex mutex;

    MutexTurns(CuratorFramework client, String path) {
        this.path = path;
        mutex = new NamedMutex(client, path);
    }

    @Override
    public void take(Ledger ledger) throws Exception {
        long asked = System.nanoTime();
        if (!mutex.acquire(Ledger.waitLimit(), TimeUnit.MILLISECONDS)) {
            ledger.miss("timeout");
            return;
        }
        try {
            Ledger.Hold hold = ledger.begin("mutex", asked, null, path + "/" + mutex.node());
            if (hold != null) {
                hold.linger(Ledger.span());
                hold.end();
            }
        } finally {
            mutex.release();
        }
    }
}
