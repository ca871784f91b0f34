import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;

/**
 * * Takes two or three mutexes together, or one of them alone. All Java contenders take them in one order, which is the
 * opposite of Go's, and mostly wait without a limit: so only Go can end that they wait for each other.
 */
final class MultiLockTurns implements Contest.Turns {
    private final CuratorFramework client;
    private final String path;

    MultiLockTurns(CuratorFramework client, String path) {
        this.client = client;
        this.path = path;
    }

    @Override
    public void take(Ledger ledger) throws Exception {
        List<String> paths = new ArrayList<>(List.of(path + "/2", path + "/1", path + "/0"));
        for (int surplus = ThreadLocalRandom.current().nextInt(paths.size()); surplus > 0; surplus--) {
            paths.remove(ThreadLocalRandom.current().nextInt(paths.size()));
        }
        if (paths.size() == 1) {
            new MutexTurns(client, paths.get(0), paths).take(ledger);
            return;
        }
        NamedMultiLock locks = new NamedMultiLock(client, paths);
        long asked = System.nanoTime();
        long waitLimit = Ledger.waitLimit();
        if (waitLimit >= TimeUnit.SECONDS.toMillis(Clients.LIMIT_SECONDS)) {
            locks.acquire();
        } else if (!locks.acquire(waitLimit, TimeUnit.MILLISECONDS)) {
            ledger.miss("timeout");
            return;
        }
        try {
            Ledger.Hold hold = ledger.beginOf("multi-lock", paths, asked, locks.nodes());
            if (hold != null) {
                hold.linger(Ledger.span());
                hold.end();
            }
        } finally {
            locks.release();
        }
    }
}
