<?php
// Run before every PHP program of a check: where that is PHPUnit, makes it report each test.
(static function (): void {
    $arguments = $_SERVER['argv'] ?? [];
    $program = $arguments ? basename((string) realpath($arguments[0])) : '';
    if (!preg_match('/^phpunit(-[\d.]+)?(\.phar)?$/', $program) || in_array('--log-junit', $arguments, true)) {
        return;
    }
    $report = dirname(__DIR__) . '/reports/phpunit.' . getmypid() . '.xml';
    array_splice($arguments, 1, 0, ['--log-junit', $report]);
    $_SERVER['argv'] = $GLOBALS['argv'] = $arguments;
    $_SERVER['argc'] = $GLOBALS['argc'] = count($arguments);
})();
